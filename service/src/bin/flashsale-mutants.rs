//! `flashsale-mutants`: the service with one deliberate defect, chosen by `--mutant`.

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    flashsale::service::run(&flashsale::settings::Settings::parse())?;
    Ok(())
}
