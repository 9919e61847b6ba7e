//! `flashsale`: all roles of the bundled service in one process.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    flashsale::service::main()
}
