//! From the file as written to the plan: defaults filled in, names made, cross-checks done.

use std::path::{Path, PathBuf};

use super::file::{
    DrillFile, ExpectSection, FaultSection, FileError, LoadSection, MutantSection, PhaseSection,
    PopulationSection, SaleSection, ShortSection, read_toml,
};
use super::plan::{Expect, Load, Mutant, Plan, PlannedFault, Sale, Sku};
use super::problems::Problems;
use crate::check::CheckId;
use crate::faults::Fault;
use crate::load::population::Population;
use crate::load::schedule::{Phase, Schedule};
use crate::target::Target;

/// What the command line adds to a drill file.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Overrides the file's seed.
    pub seed: Option<u64>,
    /// Shrinks the drill by its `[short]` section.
    pub short: bool,
    /// Unique name of the run; the sale is named after it.
    pub run: String,
}

/// Reads a drill file and its target file and makes the plan.
///
/// # Errors
/// Every mistake of both files, with the file and the key path of each.
pub fn load_plan(path: &Path, choices: &Choices) -> Result<Plan, FileError> {
    let mut problems = Problems::default();
    let file = DrillFile::from_map(read_toml(path)?, &mut problems);
    let target = file.about.as_ref().and_then(|about| {
        let place = target_path(path, &about.target);
        crate::target::file::load(&place)
            .map_err(|error| problems.push("target", error.to_string()))
            .ok()
    });
    let plan = resolve(&drill_name(path), file, target, choices, &mut problems);
    problems.or(plan).map_err(|problems| FileError::Wrong {
        path: path.to_owned(),
        problems,
    })
}

/// `redis/primary-kill` for `.../drills/redis/primary-kill.toml`.
fn drill_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match path.parent().and_then(Path::file_name) {
        Some(group) if group != "drills" => format!("{}/{stem}", group.to_string_lossy()),
        _ => stem.into_owned(),
    }
}

/// Targets stand in the `targets` folder beside the drill's or one level up.
fn target_path(drill: &Path, name: &str) -> PathBuf {
    let file = format!("targets/{name}.toml");
    let folder = drill.parent().unwrap_or(Path::new("."));
    let beside = folder.join(&file);
    if beside.exists() {
        beside
    } else {
        folder.join("..").join(file)
    }
}

fn resolve(
    drill: &str,
    file: DrillFile,
    target: Option<Target>,
    choices: &Choices,
    problems: &mut Problems,
) -> Option<Plan> {
    cross_check(&file, problems);
    super::journeys::check(&file, target.as_ref(), load_ms(&file), problems);
    let about = file.about?;
    let short = if choices.short {
        Some(file.short.unwrap_or_default())
    } else {
        None
    };
    Some(Plan {
        drill: drill.to_owned(),
        title: about.title,
        controls: about.controls,
        seed: choices.seed.or(about.seed).unwrap_or_else(fresh_seed),
        sale: sale(&file.sale?, &choices.run),
        load: load(&file.load?, short.as_ref()),
        population: population(&file.population?),
        journeys: file.journeys.map(|section| section.resolve(short.as_ref())),
        faults: file.faults?.iter().map(fault).collect(),
        expect: expect(&file.expect?),
        mutants: file.mutants?.into_iter().map(mutant).collect(),
        target: target?,
    })
}

/// Half a quarter: what `--short` does to a drill that does not say.
impl Default for ShortSection {
    fn default() -> Self {
        let share = |value| super::range::Share::new(value).expect("a share");
        Self {
            rate_share: share(0.25),
            duration_share: share(0.5),
        }
    }
}

/// A seed nobody chose; it is saved in the plan and printed.
fn fresh_seed() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond();
    xxhash_rust::xxh3::xxh3_64(&now.to_le_bytes())
}

fn cross_check(file: &DrillFile, problems: &mut Problems) {
    if let Some(load) = &file.load
        && load.phases.is_empty()
    {
        problems.push("load.phases", "empty; at least one phase is needed");
    }
    if let Some(population) = &file.population {
        check_shares(population, problems);
    }
    check_faults(file, problems);
    check_expectations(file, problems);
}

fn check_shares(population: &PopulationSection, problems: &mut Problems) {
    let sum =
        population.pay_share.get() + population.cancel_share.get() + population.status_share.get();
    if sum > 1.0 {
        let message = format!("pay_share + cancel_share + status_share is {sum}; at most 1");
        problems.push("population", message);
    }
}

fn check_faults(file: &DrillFile, problems: &mut Problems) {
    let (Some(load), Some(faults)) = (&file.load, &file.faults) else {
        return;
    };
    let end_ms = total_ms(load);
    for (index, section) in faults.iter().enumerate() {
        let (at_ms, sku) = place(section);
        if at_ms >= end_ms {
            let message = format!("{at_ms} is after the load's end at {end_ms} ms");
            problems.push(format!("faults[{index}].at_ms"), message);
        }
        if let (Some(sku), Some(sale)) = (sku, &file.sale)
            && sku > sale.skus.get()
        {
            let message = format!("there is no SKU {sku}; sale.skus is {}", sale.skus.get());
            problems.push(format!("faults[{index}].sku"), message);
        }
    }
}

fn load_ms(file: &DrillFile) -> Option<u64> {
    file.load.as_ref().map(total_ms)
}

fn total_ms(load: &LoadSection) -> u64 {
    let phases = load.phases.iter();
    phases.map(|phase| u64::from(duration_ms(phase))).sum()
}

fn check_expectations(file: &DrillFile, problems: &mut Problems) {
    let Some(expect) = &file.expect else { return };
    if expect.checks.iter().all(|check| *check == CheckId::P1) {
        problems.push(
            "expect.checks",
            "no checker of the sale; a drill must expect something",
        );
    }
    for (index, mutant) in file.mutants.iter().flatten().enumerate() {
        if !expect.checks.contains(&mutant.check) {
            let message = format!("{:?} is not among expect.checks", mutant.check);
            problems.push(format!("mutants[{index}].check"), message);
        }
    }
}

fn duration_ms(phase: &PhaseSection) -> u32 {
    match phase {
        PhaseSection::Constant { duration_ms, .. }
        | PhaseSection::Ramp { duration_ms, .. }
        | PhaseSection::Spike { duration_ms, .. } => duration_ms.get(),
    }
}

/// When a fault comes, and the number of the SKU it is about.
fn place(section: &FaultSection) -> (u64, Option<u32>) {
    match section {
        FaultSection::RedisPrimaryKill { at_ms, sku, .. }
        | FaultSection::CacheStockRaise { at_ms, sku, .. } => (*at_ms, Some(sku.get())),
        FaultSection::BrokerKill { at_ms, .. } => (*at_ms, None),
    }
}

fn sale(section: &SaleSection, run: &str) -> Sale {
    let sku = |number| Sku {
        id: sku_id(number),
        stock: section.units_per_sku.get(),
    };
    Sale {
        id: run.to_owned(),
        skus: (1..=section.skus.get()).map(sku).collect(),
        limit_per_user: section.limit_per_user.get(),
    }
}

fn sku_id(number: u32) -> String {
    format!("sku-{number:02}")
}

fn load(section: &LoadSection, short: Option<&ShortSection>) -> Load {
    Load {
        schedule: Schedule {
            phases: section
                .phases
                .iter()
                .map(|written| phase(written, short))
                .collect(),
        },
        connections: section.connections.get(),
        depth: section.depth.get(),
        timeout_ms: section.timeout_ms.get().into(),
    }
}

fn phase(section: &PhaseSection, short: Option<&ShortSection>) -> Phase {
    let rate = |rate: super::range::Rate| rate.get() * short.map_or(1.0, |s| s.rate_share.get());
    let time = |ms: u64| match short {
        Some(short) => ((ms as f64 * short.duration_share.get()) as u64).max(1),
        None => ms,
    };
    match section.clone() {
        PhaseSection::Constant {
            name,
            rate_per_s,
            duration_ms,
        } => Phase::Constant {
            name,
            rate_per_s: rate(rate_per_s),
            duration_ms: time(duration_ms.get().into()),
        },
        PhaseSection::Ramp {
            name,
            from_per_s,
            to_per_s,
            duration_ms,
        } => Phase::Ramp {
            name,
            from_per_s: rate(from_per_s),
            to_per_s: rate(to_per_s),
            duration_ms: time(duration_ms.get().into()),
        },
        PhaseSection::Spike {
            name,
            base_per_s,
            peak_per_s,
            peak_at_ms,
            peak_ms,
            duration_ms,
        } => Phase::Spike {
            name,
            base_per_s: rate(base_per_s),
            peak_per_s: rate(peak_per_s),
            peak_at_ms: time(peak_at_ms),
            peak_ms: time(peak_ms.get().into()),
            duration_ms: time(duration_ms.get().into()),
        },
    }
}

fn population(section: &PopulationSection) -> Population {
    Population {
        users: section.users.get().into(),
        quantity: section.quantity.get(),
        duplicate_share: section.duplicate_share.get(),
        pay_share: section.pay_share.get(),
        cancel_share: section.cancel_share.get(),
        status_share: section.status_share.get(),
        follow_up_after_ms: section.follow_up_after_ms.get().into(),
    }
}

fn fault(section: &FaultSection) -> PlannedFault {
    match *section {
        FaultSection::RedisPrimaryKill {
            at_ms,
            sku,
            cut_replication_ms,
            restart_after_ms,
        } => {
            let sku = sku_id(sku.get());
            let restart_after_ms = restart_after_ms.get().into();
            let fault = Fault::RedisPrimaryKill {
                sku,
                cut_replication_ms,
                restart_after_ms,
            };
            PlannedFault { at_ms, fault }
        }
        FaultSection::BrokerKill {
            at_ms,
            cut_requests_ms,
            restart_after_ms,
        } => {
            let restart_after_ms = restart_after_ms.get().into();
            PlannedFault {
                at_ms,
                fault: Fault::BrokerKill {
                    cut_requests_ms,
                    restart_after_ms,
                },
            }
        }
        FaultSection::CacheStockRaise { at_ms, sku, units } => {
            let fault = Fault::CacheStockRaise {
                sku: sku_id(sku.get()),
                units: units.get(),
            };
            PlannedFault { at_ms, fault }
        }
    }
}

fn expect(section: &ExpectSection) -> Expect {
    Expect {
        checks: section.checks.clone(),
        sent_share_min: section.sent_share_min.get(),
        schedule_lag_us_p99_max: section.schedule_lag_us_p99_max.get().into(),
        converge_ms_max: section.converge_ms_max.get().into(),
        sell_out: section.sell_out,
    }
}

fn mutant(section: MutantSection) -> Mutant {
    Mutant {
        name: section.name,
        check: section.check,
    }
}
