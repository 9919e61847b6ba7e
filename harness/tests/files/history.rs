//! A history is read back as it was written, and damage is found where it is.

use std::fs;
use std::path::{Path, PathBuf};

use flashdrill::history::final_state::OrderState;
use flashdrill::history::operation::{Operation, OperationKind, Outcome};
use flashdrill::history::{HistoryError, HistoryReader, HistoryTotals, HistoryWriter, survey};
use xxhash_rust::xxh3::xxh3_64;

/// The end mark: head of a block and a count.
const END_LEN: usize = 20;

/// A folder of this test, removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("fd-history-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("history")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn operation(index: u64) -> Operation {
    let kinds = [
        OperationKind::Buy,
        OperationKind::Status,
        OperationKind::Pay,
        OperationKind::Cancel,
    ];
    let outcomes = [Outcome::Accepted, Outcome::Refused, Outcome::Unknown];
    let told = [
        None,
        Some(OrderState::Created),
        Some(OrderState::Paid),
        Some(OrderState::Cancelled),
        Some(OrderState::Expired),
        Some(OrderState::Rejected),
    ];
    Operation {
        index,
        kind: kinds[(index % 4) as usize],
        key: index / 2,
        user: (1 << 48) - 1 - index,
        sku: index as u32 % 20,
        quantity: 2,
        attempt: index as u8,
        node: (index % 7) as u8,
        fault_epoch: (index % 65_536) as u16,
        intended_ns: index * 10,
        sent_ns: index * 10 + 1,
        completed_ns: index * 10 + 2,
        outcome: outcomes[(index % 3) as usize],
        reason: (index % 2) as u16,
        status: 202,
        told: told[(index % 6) as usize],
        order_id: index
            .is_multiple_of(3)
            .then(|| format!("order-{index}").into()),
    }
}

fn write(path: &Path, count: u64) -> HistoryTotals {
    let reasons = vec![String::new(), "sold_out".into()];
    let mut writer = HistoryWriter::create(path, 7, reasons).unwrap();
    for index in 0..count {
        let operation = operation(index);
        writer
            .append(&operation, operation.order_id.as_deref())
            .unwrap();
    }
    writer.finish().unwrap()
}

/// Operations that can be read, all as they were written, and the damage behind them.
fn read(path: &Path) -> (u64, Option<String>) {
    let mut count = 0;
    for item in HistoryReader::open(path).unwrap() {
        match item {
            Ok(read) => assert_eq!(read, operation(count)),
            Err(error) => return (count, Some(error.to_string())),
        }
        count += 1;
    }
    (count, None)
}

#[test]
fn reads_back_what_was_written() {
    let scratch = Scratch::new("round-trip");
    for count in [0, 1, 1_000, 100_000] {
        let totals = write(&scratch.file(), count);
        assert_eq!(totals.operations, count);
        assert_eq!(totals.bytes, fs::metadata(scratch.file()).unwrap().len());
        assert_eq!(read(&scratch.file()), (count, None));
        let survey = survey(&scratch.file()).unwrap();
        assert_eq!((survey.operations, survey.damage), (count, None));
        assert_eq!(survey.header.seed, 7);
        assert_eq!(survey.header.reasons, ["", "sold_out"]);
    }
}

#[test]
fn a_history_cut_off_anywhere_gives_what_is_whole_and_says_so() {
    let scratch = Scratch::new("cut");
    write(&scratch.file(), 10_000);
    let whole = fs::read(scratch.file()).unwrap();
    let end = whole.len() - END_LEN;
    for cut in [whole.len() - 1, end, end - 1, whole.len() / 2, 200] {
        fs::write(scratch.file(), &whole[..cut]).unwrap();
        let (count, damage) = read(&scratch.file());
        assert_eq!(count == 10_000, cut >= end, "{count} before a cut at {cut}");
        let damage = damage.unwrap_or_else(|| panic!("not noticed: cut at {cut}"));
        assert!(damage.contains("it was cut off"), "{damage}");
        assert!(
            damage.contains(&format!("the {count} operations")),
            "{damage}"
        );
        assert_eq!(survey(&scratch.file()).unwrap().damage, Some(damage));
    }
}

#[test]
fn a_writer_that_never_finished_reads_as_cut_off() {
    let scratch = Scratch::new("unfinished");
    let mut writer = HistoryWriter::create(&scratch.file(), 7, vec![]).unwrap();
    writer.append(&operation(0), None).unwrap();
    drop(writer);
    assert!(read(&scratch.file()).1.unwrap().contains("it was cut off"));
}

#[test]
fn a_changed_byte_is_found_and_what_is_before_it_is_read() {
    let scratch = Scratch::new("flip");
    write(&scratch.file(), 10_000);
    let whole = fs::read(scratch.file()).unwrap();
    for (at, before) in [(300, 0), (whole.len() - 100, 3_000)] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(scratch.file(), &bytes).unwrap();
        let (count, damage) = read(&scratch.file());
        assert!((before..10_000).contains(&count), "{count}");
        assert!(damage.unwrap().contains("checksum"));
    }
}

#[test]
fn a_wrong_count_or_bytes_behind_the_end_are_damage() {
    let scratch = Scratch::new("end");
    write(&scratch.file(), 10);
    let whole = fs::read(scratch.file()).unwrap();
    fs::write(scratch.file(), [&whole[..], b"x"].concat()).unwrap();
    let (count, damage) = read(&scratch.file());
    assert_eq!(count, 10);
    assert!(damage.unwrap().contains("behind its end mark"));

    let eleven = 11_u64.to_le_bytes();
    let sum = xxh3_64(&eleven).to_le_bytes();
    let before = &whole[..whole.len() - END_LEN];
    fs::write(scratch.file(), [before, &[0; 4], &sum, &eleven].concat()).unwrap();
    assert!(
        read(&scratch.file())
            .1
            .unwrap()
            .contains("operations are missing")
    );
}

#[test]
fn what_is_no_history_or_another_version_is_refused() {
    let scratch = Scratch::new("foreign");
    fs::write(scratch.file(), "hello").unwrap();
    let error = HistoryReader::open(&scratch.file()).unwrap_err();
    assert!(matches!(error, HistoryError::NotAHistory { .. }), "{error}");

    write(&scratch.file(), 1);
    let mut bytes = fs::read(scratch.file()).unwrap();
    bytes[8] = 99;
    fs::write(scratch.file(), &bytes).unwrap();
    let error = HistoryReader::open(&scratch.file()).unwrap_err();
    assert!(error.to_string().contains("version 99"), "{error}");

    bytes[8] = 2;
    bytes[30] ^= 1;
    fs::write(scratch.file(), &bytes).unwrap();
    let error = HistoryReader::open(&scratch.file()).unwrap_err();
    assert!(
        matches!(error, HistoryError::Damaged { operations: 0, .. }),
        "{error}"
    );

    let missing = HistoryReader::open(&scratch.0.join("none")).unwrap_err();
    assert!(missing.to_string().contains("none"), "{missing}");
}
