//! `flashsale-mutants`: the service with one deliberate defect, chosen by `--mutant`.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    flashsale::service::main()
}
