//! `flashsale`: all roles of the bundled service in one process.

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    flashsale::service::run(&flashsale::settings::Settings::parse())?;
    Ok(())
}
