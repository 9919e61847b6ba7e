//! `flashdrill history`: what buyers asked for and were told, record by record.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::exit::Exit;
use crate::drill::folder::{FolderError, RunFolder};
use crate::drill::plan::Plan;
use crate::history::operation::{Operation, OperationKind, Outcome};
use crate::history::{Filter, HistoryError, HistoryReader, Line, words};
use crate::load::population::{key_of, user_number};

const AFTER_HELP: &str = "\
Records are in the order of completion; the load's come first, then those of journeys and of the last call.
A damaged history is printed up to the damage, exit 2.

All clicks of one buyer:    flashdrill history results/latest --user u000000000042
One purchase of a witness:  flashdrill history results/latest --request 0c5e2a1b0000000000001f40
For a spreadsheet:          flashdrill history results/latest --outcome unknown --format csv > unknown.csv
";

#[derive(Debug, ClapArgs)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A run folder, such as results/latest.
    run: PathBuf,
    /// Only attempts with this idempotency key.
    #[arg(long, conflicts_with = "request")]
    key: Option<u64>,
    /// The same by the request id that was sent.
    #[arg(long)]
    request: Option<String>,
    /// Only those of this user: `u000000000042` or 42.
    #[arg(long)]
    user: Option<String>,
    /// Only those for this SKU.
    #[arg(long)]
    sku: Option<String>,
    #[arg(long)]
    kind: Option<OperationKind>,
    #[arg(long)]
    outcome: Option<Outcome>,
    /// Stop after so many records.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// One sentence a record.
    Text,
    /// One JSON object a line.
    Jsonl,
    /// With a header.
    Csv,
}

#[derive(Debug, thiserror::Error)]
enum HistoryCommandError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error("{0}")]
    Filter(String),
    #[error("cannot write the records: {0}")]
    Write(#[from] io::Error),
}

pub fn run(args: &Args) -> Exit {
    match print(args) {
        Ok(()) => Exit::Pass,
        // Whoever reads has enough, as `head` does.
        Err(HistoryCommandError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Exit::Pass
        }
        Err(error @ HistoryCommandError::History(HistoryError::Damaged { .. })) => {
            note!("flashdrill: {error}");
            Exit::Inconclusive
        }
        Err(error) => Exit::usage(&error),
    }
}

fn print(args: &Args) -> Result<(), HistoryCommandError> {
    let folder = RunFolder::open(&args.run);
    let plan: Plan = folder.load(RunFolder::PLAN)?;
    let filter = filter(args, &plan).map_err(HistoryCommandError::Filter)?;
    let mut printer = Printer::new(args.format, &plan);
    let mut left = args.limit.unwrap_or(u64::MAX);
    for (part, file) in RunFolder::HISTORIES {
        let path = folder.file(file);
        // Only the load's is always there.
        if file != RunFolder::HISTORY && !path.exists() {
            continue;
        }
        let reader = HistoryReader::open(&path)?;
        let reasons = reader.header().reasons.clone();
        for one in reader {
            if left == 0 {
                break;
            }
            // What comes before a damage is shown before it.
            let one = match one {
                Ok(one) => one,
                Err(damage) => {
                    printer.flush()?;
                    return Err(damage.into());
                }
            };
            if filter.takes(&one) {
                left -= 1;
                let reason = reasons.get(usize::from(one.reason));
                printer.print(part, &one, reason.map_or("", String::as_str))?;
            }
        }
    }
    Ok(printer.flush()?)
}

fn filter(args: &Args, plan: &Plan) -> Result<Filter, String> {
    let mut wrong = Vec::new();
    let mut known = |found: Option<u64>, text: String| {
        found.or_else(|| {
            wrong.push(text);
            None
        })
    };
    let key = args.request.as_ref().and_then(|id| {
        known(
            key_of(plan.seed, id),
            format!("--request {id}: no request id of this run"),
        )
    });
    let user = args.user.as_ref().and_then(|user| {
        known(
            user_number(user),
            format!("--user {user}: no user; expected u000000000042 or 42"),
        )
    });
    let skus = &plan.sale.skus;
    let sku = args.sku.as_ref().and_then(|id| {
        let names = skus.iter().map(|sku| sku.id.as_str()).collect::<Vec<_>>();
        let index = names.iter().position(|name| name == id);
        known(
            index.map(|index| index as u64),
            format!("--sku {id}: not on sale; there are {}", names.join(", ")),
        )
    });
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    Ok(Filter {
        key: key.or(args.key),
        user,
        sku: sku.and_then(|index| u32::try_from(index).ok()),
        kind: args.kind,
        outcome: args.outcome,
    })
}

/// Writes records to standard output.
struct Printer<'p> {
    plan: &'p Plan,
    out: Sink,
}

enum Sink {
    Text(BufWriter<io::Stdout>),
    Jsonl(BufWriter<io::Stdout>),
    Csv(Box<csv::Writer<io::Stdout>>),
}

impl<'p> Printer<'p> {
    fn new(format: Format, plan: &'p Plan) -> Self {
        let out = match format {
            Format::Text => Sink::Text(BufWriter::new(io::stdout())),
            Format::Jsonl => Sink::Jsonl(BufWriter::new(io::stdout())),
            Format::Csv => Sink::Csv(Box::new(csv::Writer::from_writer(io::stdout()))),
        };
        Self { plan, out }
    }

    fn print(&mut self, part: &'static str, one: &Operation, reason: &str) -> io::Result<()> {
        let sku = self.plan.sale.skus.get(one.sku as usize);
        let sku = sku.map_or("(unknown)", |sku| sku.id.as_str());
        let line = Line::new(part, self.plan.seed, one, sku, reason);
        match &mut self.out {
            Sink::Text(out) => {
                let words = words::attempt(one, sku, reason);
                writeln!(out, "{words}  [{part}, request {}]", line.request_id)
            }
            Sink::Jsonl(out) => {
                serde_json::to_writer(&mut *out, &line)?;
                writeln!(out)
            }
            Sink::Csv(out) => Ok(out.serialize(&line)?),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Sink::Text(out) | Sink::Jsonl(out) => out.flush(),
            Sink::Csv(out) => out.flush(),
        }
    }
}
