//! `flashdrill history`: a saved run's attempts, filtered, in words and for other programs.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use flashdrill::history::HistoryWriter;
use flashdrill::history::operation::{Operation, OperationKind, Outcome};
use flashdrill::load::population::request_id;
use flashdrill::target::StateQueries;

const SEED: u64 = 7;
const RECORDS: u64 = 60;

/// A run folder of this test, removed with it.
struct Run(PathBuf);

impl Drop for Run {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What the command printed, and its exit code.
struct Printed {
    lines: Vec<String>,
    error: String,
    code: i32,
}

impl Run {
    /// Users 0 to 9 buy of `s0`, `s1` and `s2` in turn; every third is accepted, refused, unknown.
    fn new(test: &str) -> Self {
        let name = format!("fd-history-command-{test}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let mut plan =
            crate::plan::sale_of(&[("s0", 9), ("s1", 9), ("s2", 9)], StateQueries::default());
        plan.seed = SEED;
        fs::write(folder.join("plan.json"), serde_json::to_vec(&plan).unwrap()).unwrap();
        let reasons = vec![String::new(), "sold_out".into(), "timeout".into()];
        let file = folder.join("history.bin");
        let mut writer = HistoryWriter::create(&file, SEED, reasons).unwrap();
        for index in 0..RECORDS {
            let operation = operation(index);
            let order_id = operation.order_id.as_deref();
            writer.append(&operation, order_id).unwrap();
        }
        writer.finish().unwrap();
        Self(folder)
    }

    fn print(&self, args: &[&str]) -> Printed {
        let output = Command::new(env!("CARGO_BIN_EXE_flashdrill"))
            .arg("history")
            .arg(&self.0)
            .args(args)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        Printed {
            lines: text.lines().map(str::to_owned).collect(),
            error: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap(),
        }
    }
}

fn operation(index: u64) -> Operation {
    let outcomes = [Outcome::Accepted, Outcome::Refused, Outcome::Unknown];
    let place = (index % 3) as usize;
    Operation {
        index,
        kind: OperationKind::Buy,
        key: index / 2,
        user: index % 10,
        sku: (index % 3) as u32,
        quantity: 1,
        attempt: 0,
        node: 0,
        fault_epoch: 0,
        intended_ns: index * 1_000_000,
        sent_ns: index * 1_000_000,
        completed_ns: index * 1_000_000 + 250_000,
        outcome: outcomes[place],
        reason: place as u16,
        status: 202,
        told: None,
        order_id: (place == 0).then(|| format!("order-{index}").into()),
    }
}

#[test]
fn every_filter_takes_what_it_names_and_all_of_them_together() {
    let run = Run::new("filters");
    let id = request_id(SEED, 4);
    let cases: [(&[&str], usize); 9] = [
        (&[], 60),
        (&["--key", "4"], 2),
        (&["--request", &id], 2),
        (&["--user", "u000000000003"], 6),
        (&["--user", "3"], 6),
        (&["--sku", "s1"], 20),
        (&["--outcome", "unknown"], 20),
        (&["--kind", "pay"], 0),
        (&["--user", "3", "--sku", "s0", "--limit", "1"], 1),
    ];
    for (args, expected) in cases {
        let printed = run.print(args);
        assert_eq!(
            (printed.lines.len(), printed.code),
            (expected, 0),
            "{args:?}"
        );
    }
    let printed = run.print(&["--key", "0"]);
    let request = request_id(SEED, 0);
    assert_eq!(
        printed.lines,
        [
            format!(
                "+0.000 s u000000000000 buys 1 of s0: accepted, order order-0 after 0.2 ms (node 0, fault epoch 0)  [load, request {request}]"
            ),
            format!(
                "+0.001 s u000000000001 buys 1 of s1: refused (sold_out) after 0.2 ms (node 0, fault epoch 0)  [load, request {request}]"
            ),
        ]
    );
}

#[test]
fn other_programs_get_every_field_by_name() {
    let run = Run::new("formats");
    let printed = run.print(&["--key", "0", "--format", "jsonl"]);
    let first: serde_json::Value = serde_json::from_str(&printed.lines[0]).unwrap();
    let expected = serde_json::json!({
        "part": "load", "index": 0, "kind": "buy", "key": 0, "request_id": request_id(SEED, 0),
        "user": "u000000000000", "sku": "s0", "quantity": 1, "attempt": 0, "node": 0,
        "fault_epoch": 0, "intended_ns": 0, "sent_ns": 0,
        "completed_ns": 250_000, "outcome": "accepted", "reason": "", "status": 202, "told": null,
        "order_id": "order-0",
    });
    assert_eq!(first, expected);
    let printed = run.print(&["--key", "0", "--format", "csv"]);
    assert_eq!(
        printed.lines[0],
        "part,index,kind,key,request_id,user,sku,quantity,attempt,node,fault_epoch,intended_ns,sent_ns,completed_ns,outcome,reason,status,told,order_id"
    );
    assert!(printed.lines[2].ends_with(",1000000,1250000,refused,sold_out,202,,"));
    assert_eq!(printed.lines.len(), 3);
}

#[test]
fn what_is_wrong_is_named_and_a_damaged_history_is_shown_up_to_its_damage() {
    let run = Run::new("wrong");
    let printed = run.print(&["--sku", "s7", "--user", "bob", "--request", "xyz"]);
    assert_eq!(printed.code, 64);
    for expected in [
        "--sku s7: not on sale; there are s0, s1, s2",
        "--user bob: no user",
        "--request xyz: no request id of this run",
    ] {
        assert!(printed.error.contains(expected), "{}", printed.error);
    }
    let file = run.0.join("history.bin");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    let printed = run.print(&[]);
    assert_eq!((printed.lines.len(), printed.code), (60, 2));
    assert!(
        printed.error.contains("damaged at byte"),
        "{}",
        printed.error
    );
    fs::remove_file(run.0.join("plan.json")).unwrap();
    let printed = run.print(&[]);
    assert_eq!(printed.code, 64);
    assert!(printed.error.contains("plan.json"), "{}", printed.error);
}
