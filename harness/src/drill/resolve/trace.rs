//! Recorded loads: CSV of `at_ms,requests`, so many requests evenly between a line's time and the
//! next's. They are read once and become part of the plan.

use std::collections::BTreeMap;
use std::path::Path;

use super::load::shapes;
use super::short::Shrink;
use crate::drill::file::{LoadSection, ShapeSection};
use crate::drill::problems::Problems;

/// The first line may name the columns.
const HEADER: &str = "at_ms,requests";
/// Keeps every sum of requests within its integer: a million a millisecond for a day.
const REQUESTS_MAX: u64 = 1_000_000_000;

/// The traces that a drill names, by the name it gives.
#[derive(Debug, Default)]
pub struct Traces {
    by_file: BTreeMap<String, Vec<(u64, u64)>>,
}

impl Traces {
    /// Reads all of them; `problems` gets every wrong line of each. Paths are relative to `folder`.
    pub fn read(load: &LoadSection, folder: &Path, problems: &mut Problems) -> Self {
        let mut traces = Self::default();
        for (path, shape) in shapes(load) {
            let ShapeSection::Trace { file, .. } = shape else {
                continue;
            };
            if traces.by_file.contains_key(file) {
                continue;
            }
            let before = problems.0.len();
            let points = read(&folder.join(file), &format!("{path}.file"), problems);
            if problems.0.len() == before {
                traces.by_file.insert(file.clone(), points);
            }
        }
        traces
    }

    /// None: it could not be read.
    pub fn length_ms(&self, file: &str) -> Option<u64> {
        let points = self.by_file.get(file)?;
        points.last().map(|(at_ms, _)| *at_ms)
    }

    /// The points with the requests scaled. They are rounded so that the sum up to any point is right
    /// within one; points that fall on one millisecond become one.
    pub fn points(&self, file: &str, rate_share: f64, shrink: Shrink) -> Vec<(u64, u64)> {
        let mut points: Vec<(u64, u64)> = Vec::new();
        let (mut seen, mut given) = (0, 0);
        for &(at_ms, requests) in self.by_file.get(file).into_iter().flatten() {
            seen += requests;
            let scaled = (shrink.requests(seen as f64 * rate_share)).round() as u64;
            let more = scaled - given;
            given = scaled;
            match points.last_mut() {
                Some(last) if last.0 == shrink.at(at_ms) => last.1 += more,
                _ => points.push((shrink.at(at_ms), more)),
            }
        }
        if let Some(&(at_ms, 1..)) = points.last() {
            // The end fell on the millisecond of the line before it.
            points.push((at_ms + 1, 0));
        }
        points
    }
}

fn read(path: &Path, key: &str, problems: &mut Problems) -> Vec<(u64, u64)> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text, key, problems),
        Err(error) => {
            problems.push(key, format!("cannot read {}: {error}", path.display()));
            Vec::new()
        }
    }
}

fn parse(text: &str, key: &str, problems: &mut Problems) -> Vec<(u64, u64)> {
    let mut points: Vec<(u64, u64)> = Vec::new();
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(number, line)| !line.is_empty() && (*number, *line) != (1, HEADER));
    for (number, line) in lines {
        match point(line, points.last().map(|(at_ms, _)| *at_ms)) {
            Ok(point) => points.push(point),
            Err(why) => problems.push(key, format!("line {number}: `{line}` {why}")),
        }
    }
    match points.last() {
        Some((_, 0)) if points.len() > 1 => {}
        Some((at_ms, requests @ 1..)) => {
            let message = format!(
                "the last line must end the trace with 0 requests, not {requests} at {at_ms} ms"
            );
            problems.push(key, message);
        }
        _ => problems.push(
            key,
            "no trace; at least two lines `at_ms,requests` are needed",
        ),
    }
    points
}

/// A line, after one of `last_ms`.
fn point(line: &str, last_ms: Option<u64>) -> Result<(u64, u64), String> {
    let numbers = line.split_once(',').and_then(|(at_ms, requests)| {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        Some((number(at_ms)?, number(requests)?))
    });
    let (at_ms, requests) =
        numbers.ok_or("is no `at_ms,requests`; expected two whole numbers".to_owned())?;
    match last_ms {
        None if at_ms != 0 => Err("is the first line, and must be at 0 ms".to_owned()),
        Some(last_ms) if at_ms <= last_ms => Err(format!("is not after the line at {last_ms} ms")),
        _ if requests > REQUESTS_MAX => Err(format!("has more than {REQUESTS_MAX} requests")),
        _ => Ok((at_ms, requests)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Vec<(u64, u64)>, Vec<String>) {
        let mut problems = Problems::default();
        let points = parse(text, "k", &mut problems);
        let messages = problems.0.into_iter().map(|one| one.message);
        (points, messages.collect())
    }

    #[test]
    fn lines_become_points_with_or_without_a_header() {
        let expected = (vec![(0, 5), (100, 0), (250, 7), (300, 0)], vec![]);
        assert_eq!(parsed("0,5\n100,0\n250,7\n300,0\n"), expected);
        assert_eq!(
            parsed("at_ms,requests\r\n0, 5\r\n100,0\r\n\r\n250,7\r\n300,0"),
            expected
        );
    }

    #[test]
    fn every_wrong_line_is_named() {
        let (_, problems) = parsed("0,5\n10;3\n20,-1\n30,2\n30,1\n40,9999999999\n50,1\n");
        let starts = [
            "line 2: `10;3` is no",
            "line 3: `20,-1` is no",
            "line 5: `30,1` is not after the line at 30 ms",
            "line 6: `40,9999999999` has more than",
            "the last line must end the trace with 0 requests, not 1 at 50 ms",
        ];
        assert_eq!(problems.len(), starts.len(), "{problems:#?}");
        for (problem, start) in problems.iter().zip(starts) {
            assert!(problem.starts_with(start), "{problem}");
        }
        assert!(parsed("5,1\n6,0").1[0].contains("must be at 0 ms"));
        for empty in ["", "at_ms,requests\n", "0,0\n"] {
            assert!(parsed(empty).1[0].starts_with("no trace"), "{empty}");
        }
    }

    #[test]
    fn the_last_requests_keep_a_time_to_fall_in() {
        let traces = Traces {
            by_file: [("t".to_owned(), vec![(0, 40), (10, 80), (11, 0)])].into(),
        };
        let short = Shrink::by(&crate::drill::file::ShortSection::default());
        assert_eq!(traces.points("t", 1.0, short), [(0, 5), (5, 10), (6, 0)]);
    }

    #[test]
    fn scaling_keeps_every_sum_right_within_one() {
        let points: Vec<(u64, u64)> = (0..50)
            .map(|at| (at * 3, at % 7))
            .chain([(150, 0)])
            .collect();
        let traces = Traces {
            by_file: [("t".to_owned(), points.clone())].into(),
        };
        let short = Shrink::by(&crate::drill::file::ShortSection::default());
        for (share, shrink, all) in [(1.0, Shrink::not_at_all(), 1.0), (0.3, short, 0.3 * 0.125)] {
            let scaled = traces.points("t", share, shrink);
            assert!(scaled.is_sorted_by(|one, two| one.0 < two.0), "{scaled:?}");
            assert_eq!(scaled.last().unwrap(), &(shrink.at(150), 0));
            for (at_ms, _) in &points {
                let sum = |points: &[(u64, u64)], end| -> u64 {
                    let earlier = points.iter().filter(|one| one.0 < end);
                    earlier.map(|one| one.1).sum()
                };
                // Whatever became one point on this millisecond counts from there.
                let exact: u64 = points
                    .iter()
                    .filter(|one| shrink.at(one.0) < shrink.at(*at_ms))
                    .map(|one| one.1)
                    .sum();
                let got = sum(&scaled, shrink.at(*at_ms)) as f64;
                assert!((got - exact as f64 * all).abs() <= 0.5 + 1e-9, "{at_ms}");
            }
        }
    }
}
