//! What a tool says of a server that freezes, beside what was true.

use crate::request::Requests;
use crate::result::{Figure, Said};
use crate::tool::{Curve, Pace};
use crate::truth::{Basis, Waits, modelled, observed};

use super::MeasureError;
use super::bench::{Bench, Guest, Run};

/// The shares at which the truth is drawn.
const DRAWN: [f64; 14] = [
    0.0, 0.25, 0.5, 0.75, 0.85, 0.9, 0.92, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 0.9999,
];

/// A tool that cannot pace runs in its closed loop: the nearest that it can do. None: it records nothing in this
/// time.
pub fn said(
    bench: &Bench,
    guest: &Guest,
    round_trip_us: f64,
) -> Result<Option<Said>, MeasureError> {
    let schedule = bench.settings.truth;
    if guest.tool.calibration_ms() >= schedule.duration_ms {
        return Ok(None);
    }
    eprintln!("bench: {} before a server that freezes", guest.tool.name());
    let nearest = [
        Pace::Paced {
            per_s: schedule.per_s,
        },
        Pace::Closed,
    ];
    for pace in nearest {
        let freezes = Some(bench.settings.freezes);
        let (requests, duration_ms) = (Requests::Same, schedule.duration_ms);
        if let Some(run) = bench.run(guest, pace, requests, duration_ms, freezes)? {
            return Ok(Some(compared(bench, run, round_trip_us)));
        }
    }
    Ok(None)
}

fn compared(bench: &Bench, run: Run, round_trip_us: f64) -> Said {
    let schedule = bench.settings.truth;
    let round_trip_ns = (round_trip_us * 1e3) as u64;
    let model = modelled(&run.log, schedule, round_trip_ns);
    let answered = run.log.answered_ns.len();
    let answers = schedule
        .is_kept_by(answered)
        .then(|| observed(&run.log, schedule, round_trip_ns));
    let model_by_answers_p99 = answers
        .as_ref()
        .map(|answers| model.us_at(0.99) / answers.us_at(0.99));
    let (basis, waits) = answers.map_or((Basis::Model, model), |waits| (Basis::Answers, waits));
    let figure = |share, said_us| Figure {
        said_us,
        true_us: waits.us_at(share),
    };
    Said {
        basis,
        answered,
        p50: figure(0.5, run.latency.p50_us),
        p99: figure(0.99, run.latency.p99_us),
        p999: figure(0.999, run.latency.p999_us),
        truth: drawn(&waits),
        said: run.latency.curve,
        model_by_answers_p99,
        command: run.command,
    }
}

fn drawn(waits: &Waits) -> Curve {
    Curve::new(DRAWN.map(|share| (share, waits.us_at(share))).to_vec())
}
