//! `flashdrill drill`: run, list, show.

use std::path::Path;

use clap::{Args, Subcommand};

use super::exit::Exit;
use super::session::{self, Session};
use super::workplace::{CatalogueArgs, Workplace};
use crate::check::Verdict;
use crate::drill::fit::Fit;
use crate::drill::folder::run_name;
use crate::drill::plan::Plan;
use crate::drill::range::Share;
use crate::drill::resolve::{Choices, load_plan};
use crate::drill::run;

#[derive(Debug, Subcommand)]
pub enum DrillCommand {
    /// Run drills one after the other on one stack; the worst verdict is the exit code.
    Run(RunArgs),
    /// List the drills with what each one breaks.
    List(CatalogueArgs),
    /// Print the plan of a drill: what would run, every default filled in.
    Plan(RunArgs),
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Drill files, or names such as redis/primary-kill.
    #[arg(required_unless_present = "all")]
    files: Vec<String>,
    /// Run every drill of the drills folder.
    #[arg(long, conflicts_with = "files")]
    all: bool,
    /// Shrink rate and duration by each drill's [short] section.
    #[arg(long)]
    short: bool,
    /// Try the full rate first, and run at what this machine holds if that is less; the report says so.
    #[arg(long)]
    fit: bool,
    /// Root of every random stream; overrides the file's seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Offer this share of the drills' rates, for a service that is smaller than they were written for.
    #[arg(long, value_name = "0..1")]
    rate_share: Option<Share>,
    /// Run them against this target instead: a name in drills/targets, or the path of a target file.
    #[arg(long)]
    target: Option<String>,
    /// Run them under this variant of the target (its `start.variants`).
    #[arg(long)]
    variant: Option<String>,
    /// Start the service's broken variant of this name (see `flashdrill prove`).
    #[arg(long)]
    mutant: Option<String>,
    #[command(flatten)]
    workplace: Workplace,
}

impl RunArgs {
    fn fit(&self) -> Fit {
        if self.fit {
            Fit::ToMachine
        } else {
            Fit::AsWritten
        }
    }
}

pub async fn run(command: DrillCommand) -> Exit {
    match command {
        DrillCommand::Run(args) => run_all(&args).await,
        DrillCommand::List(args) => list(&args).unwrap_or_else(|exit| exit),
        DrillCommand::Plan(args) => match plans(&args) {
            Ok(plans) => print_plans(&plans),
            Err(exit) => exit,
        },
    }
}

/// The plans of all drills asked for. Every wrong file is reported before anything starts.
fn plans(args: &RunArgs) -> Result<Vec<Plan>, Exit> {
    let catalogue = &args.workplace.catalogue;
    let files = match args.all {
        true => catalogue.all()?,
        false => catalogue.named(&args.files),
    };
    let (mut plans, mut wrong) = (Vec::new(), None);
    for file in &files {
        let choices = Choices {
            seed: args.seed,
            short: args.short,
            rate_share: args.rate_share,
            target: args.target.clone(),
            variant: args.variant.clone(),
            run: run_name(&drill_word(file)),
        };
        match load_plan(file, &choices) {
            Ok(plan) => plans.push(plan),
            Err(error) => wrong = Some(Exit::usage(&error)),
        }
    }
    match wrong {
        Some(exit) => Err(exit),
        None if plans.is_empty() => Err(Exit::usage(&"there are no drills to run")),
        None => Ok(plans),
    }
}

/// Last two parts of the path: enough to tell runs apart.
fn drill_word(file: &Path) -> String {
    let stem = file.with_extension("");
    let parts: Vec<_> = stem.iter().map(|part| part.to_string_lossy()).collect();
    parts[parts.len().saturating_sub(2)..].join("-")
}

async fn run_all(args: &RunArgs) -> Exit {
    run_plans(args).await.unwrap_or_else(|exit| exit)
}

/// # Errors
/// The exit code, when nothing was run.
async fn run_plans(args: &RunArgs) -> Result<Exit, Exit> {
    let (plans, setting) = (plans(args)?, args.workplace.setting.read()?);
    session::accept(&plans, &setting)?;
    let session = Session::start(&args.workplace.results, setting, args.fit()).await?;
    let mut worst = Verdict::Pass;
    let (mut broken, mut last) = (None, None);
    for plan in &plans {
        last = Some(plan.sale.id.as_str());
        match run::run(&session.stack, plan, args.mutant.as_deref(), &session.bench).await {
            Ok(finished) => {
                worst = worst.max(finished.judgement.verdict);
                say!("{}", finished.summary());
            }
            Err(error) => match Exit::of_run_error(&error) {
                Exit::Fail => worst = Verdict::Fail,
                exit => broken = Some(exit),
            },
        }
        if session.cancelled() {
            break;
        }
    }
    let end = session.stop(last).await;
    Ok(end.or(match broken {
        Some(exit) if worst != Verdict::Fail => exit,
        _ => worst.into(),
    }))
}

fn list(catalogue: &CatalogueArgs) -> Result<Exit, Exit> {
    let mut exit = Exit::Pass;
    for file in catalogue.all()? {
        match load_plan(&file, &Choices::default()) {
            Ok(plan) => say!(
                "{:24} {}  [{}]",
                plan.drill,
                plan.title,
                plan.controls.join(" ")
            ),
            Err(error) => exit = Exit::usage(&error),
        }
    }
    Ok(exit)
}

fn print_plans(plans: &[Plan]) -> Exit {
    for plan in plans {
        match serde_json::to_string_pretty(plan) {
            Ok(text) => say!("{text}"),
            Err(error) => return Exit::internal(&error),
        }
    }
    Exit::Pass
}
