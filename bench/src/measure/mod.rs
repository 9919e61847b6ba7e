//! The measurements: each gives every tool the same work before a fresh server.

mod bench;
mod child;
mod cost;
mod highest;
mod round_trip;
mod said;
mod settings;

use crate::result::{Comparison, Installed, ToolFigures, Work};
use crate::tool::ALL;

pub use bench::MeasureError;
use bench::{Bench, Guest};
pub use settings::Settings;

/// Measures everything that the installed tools can do.
///
/// # Errors
/// A tool that is installed cannot be run or read, or the server cannot be started.
pub fn compare(settings: Settings) -> Result<Comparison, MeasureError> {
    let bench = Bench::new(settings)?;
    let round_trip_us = bench.round_trip_us()?;
    let mut tools: Vec<ToolFigures> = ALL.iter().map(|tool| inventory(*tool)).collect();
    let guests: Vec<Guest> = ALL.iter().filter_map(|tool| Guest::of(*tool)).collect();
    for work in Work::ALL {
        for (name, cost) in cost::costs(&bench, &guests, work)? {
            of(&mut tools, name).set_cost(work, cost);
        }
    }
    for guest in &guests {
        let slot = of(&mut tools, guest.tool.name());
        slot.highest = highest::highest(&bench, guest)?;
        slot.truth = said::said(&bench, guest, round_trip_us)?;
    }
    Ok(Comparison {
        machine: bench.machine.clone(),
        settings,
        round_trip_us,
        tools,
    })
}

fn inventory(tool: &'static dyn crate::tool::Tool) -> ToolFigures {
    let installed = tool
        .program()
        .map_or(Installed::Absent(tool.absent()), |program| {
            Installed::Version(tool.version(&program))
        });
    ToolFigures {
        name: tool.name(),
        installed,
        ..ToolFigures::default()
    }
}

/// The tool's slot; every guest has one, since both come from the same list.
fn of<'t>(tools: &'t mut [ToolFigures], name: &str) -> &'t mut ToolFigures {
    let at = tools.iter().position(|tool| tool.name == name);
    &mut tools[at.unwrap_or_default()]
}
