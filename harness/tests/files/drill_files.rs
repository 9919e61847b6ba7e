//! Drill and target files: what is accepted, and that every mistake is reported at once.

use std::path::{Path, PathBuf};

use flashdrill::check::CheckId;
use flashdrill::drill::file::FileError;
use flashdrill::drill::plan::Plan;
use flashdrill::drill::resolve::{Choices, load_plan};
use flashdrill::load::schedule::Shape;

fn drills() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../drills")
}

fn choices() -> Choices {
    Choices {
        run: "test-run".to_owned(),
        ..Choices::default()
    }
}

/// A drill folder with one drill and the bundled target.
fn folder_with(drill: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("targets")).unwrap();
    let target = drills().join("targets/flashsale.toml");
    std::fs::copy(target, folder.path().join("targets/flashsale.toml")).unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, drill).unwrap();
    (folder, path)
}

fn problems_of(drill: &str) -> Vec<String> {
    let (_folder, path) = folder_with(drill);
    let problems = problems_at(&path);
    assert!(!problems.is_empty(), "expected problems");
    problems
}

/// None: the file is right.
fn problems_at(path: &Path) -> Vec<String> {
    match load_plan(path, &choices()) {
        Ok(_) => Vec::new(),
        Err(FileError::Wrong { problems, .. }) => {
            problems.0.iter().map(ToString::to_string).collect()
        }
        Err(other) => panic!("expected problems, got {other}"),
    }
}

fn problems_or_none(drill: &str) -> Vec<String> {
    let (_folder, path) = folder_with(drill);
    match load_plan(&path, &choices()) {
        Ok(_) => Vec::new(),
        Err(error) => vec![error.to_string()],
    }
}

fn oversell() -> String {
    std::fs::read_to_string(drills().join("baseline/oversell.toml")).unwrap()
}

#[test]
fn five_mistakes_are_five_problems() {
    let drill = oversell()
        .replace("units_per_sku = 200", "units_per_sku = \"many\"")
        .replace("connections = 1024", "conections = 1024")
        .replace("duplicate_share = 0.1", "duplicate_share = 1.7")
        .replacen("check = \"S2\"", "check = \"S9\"", 1)
        .replace("peak_per_s = 10000\n", "");
    let problems = problems_of(&drill);
    for path in [
        "sale.units_per_sku: expected",
        "load.conections: unknown key; did you mean `connections`?",
        "load.connections: missing",
        "load.phases[1].peak_per_s: missing",
        "population.duplicate_share: 1.7 is no share",
        "mutants[0].check: unknown value `S9`",
    ] {
        assert!(
            problems.iter().any(|p| p.contains(path)),
            "{path} not in {problems:#?}"
        );
    }
    assert_eq!(
        problems.len(),
        6,
        "a misspelt key is one unknown and one missing: {problems:#?}"
    );
}

#[test]
fn every_mistake_of_the_faults_is_reported() {
    let faults = "[[faults]]\nkind = \"broker_kil\"\nat_ms = 1\n\n\
                  [[faults]]\nkind = \"broker_kill\"\ncut_ms = 5\nfor_ms = 0\n\n\
                  [[faults]]\nat_ms = 1\n\n[expect]";
    let problems = problems_of(&oversell().replace("[expect]", faults));
    for path in [
        "faults[0].kind: unknown kind `broker_kil`; did you mean `broker_kill`?",
        "faults[1].cut_ms: unknown key",
        "faults[1].for_ms: 0 is out of range",
        "faults[2].kind: missing",
    ] {
        assert!(
            problems.iter().any(|p| p.contains(path)),
            "{path} not in {problems:#?}"
        );
    }
    assert_eq!(problems.len(), 4, "{problems:#?}");
}

#[test]
fn links_and_servers_that_are_not_there_are_named() {
    let faults = "[[faults]]\nkind = \"link_stall\"\nat_ms = 1\nfor_ms = 9\nlinks = [\"redis-bus-*\", \"service-1-*\"]\n\n\
                  [[faults]]\nkind = \"link_down\"\nat_ms = 1\nfor_ms = 9\nlinks = []\n\n\
                  [[faults]]\nkind = \"server_kill\"\nat_ms = 1\nfor_ms = 9\nserver = \"mysqld\"\n\n[expect]";
    let drill = oversell().replace("[expect]", faults);
    let problems = problems_of(&drill);
    for expected in [
        "faults[1].links: empty: name links such as `redis-bus-*`",
        "faults[2].server: `mysqld` is no server; one of redis-primary,",
    ] {
        assert!(
            problems.iter().any(|p| p.contains(expected)),
            "{expected} not in {problems:#?}"
        );
    }
    let drill = drill
        .replace("links = []", "links = [\"*\"]")
        .replace("mysqld", "mysql");
    let problems = problems_of(&drill);
    let expected = "faults[0].links: no link is called `service-1-*`; there are rocketmq-broker,";
    assert!(
        problems.len() == 1 && problems[0].starts_with(expected),
        "{problems:#?}"
    );
    let two_nodes = drill.replace("[expect]", "[service]\nnodes = 2\n\n[expect]");
    assert_eq!(problems_or_none(&two_nodes), Vec::<String>::new());
}

#[test]
fn nodes_have_roles_that_the_target_knows() {
    let with = |section: &str| {
        let section = format!("[service]\n{section}\n\n[expect]");
        let drill = oversell().replace("[expect]", &section);
        let (_folder, path) = folder_with(&drill);
        match load_plan(&path, &choices()) {
            Ok(plan) => Ok(plan.service.len()),
            Err(_) => Err(problems_of(&drill)),
        }
    };
    assert_eq!(with(r#"roles = ["gateway", "consumer", "keeper"]"#), Ok(3));
    assert_eq!(with("nodes = 2"), Ok(2));
    let (_folder, path) = folder_with(&oversell());
    let start = load_plan(&path, &choices()).unwrap().target.start;
    let known: Vec<String> = start.variants.into_keys().collect();
    let no_pigeon = format!(
        "service.variants[1]: the target knows no variant `pigeon`; it has: {}",
        known.join(", ")
    );
    let wrong: [(&str, &[&str]); 5] = [
        (r#"variants = ["outbox", "pigeon"]"#, &[&no_pigeon]),
        (
            r#"roles = ["gateway", "cashier"]"#,
            &[
                "service.roles[1]: the target knows no role `cashier`; it has: all, gateway, consumer, keeper",
            ],
        ),
        (
            r#"roles = ["consumer"]"#,
            &["service.roles: no node among them takes buyers"],
        ),
        (
            "",
            &["service: nodes, roles, env or variants must say what runs"],
        ),
        (
            "nodes = 2\nroles = [\"all\"]",
            &["service: either nodes or roles, not both"],
        ),
    ];
    for (section, expected) in wrong {
        let expected = expected.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(with(section), Err(expected), "{section}");
    }
}

/// The kill drill with its fault composed.
fn composed(section: &str) -> String {
    let drill = std::fs::read_to_string(drills().join("redis/primary-kill.toml")).unwrap();
    format!("{drill}\n[compose]\n{section}\n")
}

#[test]
fn composed_faults_are_planned_by_the_seed_and_saved() {
    let (_folder, path) = folder_with(&composed("jitter_ms = 5000\nrounds = 2\nrest_ms = 3000"));
    let faults = |seed| {
        let choices = Choices {
            seed: Some(seed),
            ..choices()
        };
        load_plan(&path, &choices).unwrap().faults
    };
    assert_eq!(faults(7), faults(7));
    assert_ne!(faults(7), faults(8));
    assert_eq!(faults(7).len(), 2);
}

#[test]
fn a_composition_that_cannot_be_is_listed_with_what_it_would_do() {
    let problems = problems_of(&composed("choose = 2\njitter_ms = 0\norder = \"any\""));
    for path in [
        "compose.jitter_ms: 0 is out of range",
        "compose.order: unknown key",
    ] {
        assert!(
            problems.iter().any(|one| one.starts_with(path)),
            "{problems:#?}"
        );
    }
    for (section, expected) in [
        ("choose = 2", "compose.choose: 2 of 1 faults"),
        (
            "jitter_ms = 29000",
            "compose: a fault may be injected at 30500 ms, after the load's end at 30000 ms",
        ),
        ("rounds = 5", "compose: a fault may be injected at 37500 ms"),
    ] {
        let problems = problems_of(&composed(section));
        assert!(
            problems.len() == 1 && problems[0].starts_with(expected),
            "{problems:#?}"
        );
    }
    let problems = problems_of(&format!("{}\n[compose]\nchoose = 1", oversell()));
    assert_eq!(problems, ["compose: there are no faults to compose"]);
}

#[test]
fn contradictions_between_sections_are_reported_beside_other_mistakes() {
    let drill = oversell().replace("pay_share = 0.3", "pay_share = 0.9").replace(
        "[expect]",
        "[[faults]]\nkind = \"cache_stock_raise\"\nat_ms = 60000\nsku = 6\nunits = 1\n\n[[faults]]\nkind = \"broker_kill\"\n\n[expect]\nconverge = 1",
    );
    let problems = problems_of(&drill);
    for path in [
        "population: pay_share +",
        "faults[0].at_ms: 60000",
        "faults[0].sku: there is no SKU 6",
        "faults[1].at_ms: missing",
        "faults[1].for_ms: missing",
        "expect.converge: unknown key",
    ] {
        assert!(
            problems.iter().any(|p| p.contains(path)),
            "{path} not in {problems:#?}"
        );
    }
}

/// The same with another line in place of the one that starts so.
fn with_line(text: &str, start: &str, line: &str) -> String {
    let lines = text
        .lines()
        .map(|old| if old.starts_with(start) { line } else { old });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_missing_section_a_missing_target_and_no_toml_are_named() {
    let cases = [
        (
            oversell().replace(
                "[sale]\nskus = 5\nunits_per_sku = 200\nlimit_per_user = 1\n",
                "",
            ),
            "sale: missing section",
        ),
        (
            format!("target = \"shop\"\n{}", oversell()),
            "target: cannot read",
        ),
        ("title = ".to_owned(), "not TOML"),
        (
            with_line(&oversell(), "checks = ", "checks = [\"P1\"]"),
            "expect.checks: no checker",
        ),
    ];
    for (drill, expected) in cases {
        let problems = problems_of(&drill);
        assert!(
            problems.iter().any(|p| p.contains(expected)),
            "{expected} not in {problems:#?}"
        );
    }
}

#[test]
fn short_shrinks_rates_and_durations_and_keeps_the_stock() {
    let path = drills().join("baseline/oversell.toml");
    let long = load_plan(&path, &choices()).unwrap();
    let short = load_plan(
        &path,
        &Choices {
            short: true,
            ..choices()
        },
    )
    .unwrap();
    assert_eq!(long.sale.skus[0].stock, short.sale.skus[0].stock);
    let Shape::Ramp {
        to_per_s,
        duration_ms,
        ..
    } = short.load.schedule.phases[0].shape
    else {
        panic!("the first phase is a ramp")
    };
    assert_eq!((to_per_s, duration_ms), (2000.0, 1600));
}

#[test]
fn a_chosen_seed_wins_and_a_plan_survives_saving() {
    let path = drills().join("redis/primary-kill.toml");
    let plan = load_plan(
        &path,
        &Choices {
            seed: Some(7),
            ..choices()
        },
    )
    .unwrap();
    assert_eq!(plan.seed, 7);
    let saved = serde_json::to_string(&plan).unwrap();
    let again: Plan = serde_json::from_str(&saved).unwrap();
    assert_eq!(
        serde_json::to_value(&again).unwrap(),
        serde_json::to_value(&plan).unwrap()
    );
}

/// A drill folder with `oversell`, changed, and a trace beside it.
fn problems_with_trace(drill: &str, trace: &str) -> Result<Plan, Vec<String>> {
    let (folder, path) = folder_with(drill);
    std::fs::write(folder.path().join("friday.csv"), trace).unwrap();
    match load_plan(&path, &choices()) {
        Ok(plan) => Ok(plan),
        Err(FileError::Wrong { problems, .. }) => {
            Err(problems.0.iter().map(ToString::to_string).collect())
        }
        Err(error) => panic!("{error}"),
    }
}

fn with_load(more: &str) -> String {
    oversell().replace("[population]", &format!("{more}\n[population]"))
}

const TRACE: &str = "[[load.phases]]
name = \"friday\"
shape = \"trace\"
file = \"friday.csv\"
rate_share = 0.5
";

#[test]
fn a_trace_becomes_a_part_of_the_plan_that_needs_no_file_any_more() {
    let plan = problems_with_trace(
        &with_load(TRACE),
        "at_ms,requests\n0,10\n100,0\n200,30\n300,0\n",
    );
    let plan = plan.unwrap();
    let Shape::Trace { points, .. } = &plan.load.schedule.phases[2].shape else {
        panic!("the last phase is a trace")
    };
    assert_eq!(points, &[(0, 5), (100, 0), (200, 15), (300, 0)]);
    let saved = serde_json::to_string(&plan).unwrap();
    let again: Plan = serde_json::from_str(&saved).unwrap();
    assert_eq!(again.load.schedule, plan.load.schedule);
}

#[test]
fn every_wrong_line_of_a_trace_is_listed_beside_other_mistakes() {
    let drill = with_load(TRACE).replace("users = 20000", "users = 0");
    let problems = problems_with_trace(&drill, "0,1\nx\n5,5\n3,0\n").unwrap_err();
    for expected in [
        "population.users: 0 is out of range",
        "load.phases[2].file: line 2: `x` is no",
        "load.phases[2].file: line 4: `3,0` is not after the line at 5 ms",
        "load.phases[2].file: the last line must end",
    ] {
        assert!(
            problems.iter().any(|p| p.starts_with(expected)),
            "{expected} not in {problems:#?}"
        );
    }
    let missing = problems_of(&with_load(TRACE));
    assert!(
        missing[0].starts_with("load.phases[2].file: cannot read"),
        "{missing:#?}"
    );
}

#[test]
fn wrong_shapes_are_named_with_what_there_is() {
    let cases = [
        (
            "[[load.phases]]\nname = \"x\"\nshape = \"clif\"\n",
            "load.phases[2].shape: unknown value; expected one of constant, ramp, steps, spike, cliff, trace",
        ),
        (
            "[[load.phases]]\nshape = \"constant\"\nrate_per_s = 1\nduration_ms = 1\n",
            "load.phases[2].name: missing",
        ),
        (
            "[[load.phases]]\nname = \"x\"\n",
            "load.phases[2].shape: missing",
        ),
        (
            "[[load.phases]]\nname = 5\nshape = \"constant\"\nrate_per_s = -1\nduration_ms = 1\n",
            "load.phases[2].rate_per_s: -1 is no rate",
        ),
        (
            "[[load.phases]]\nname = 5\nshape = \"constant\"\nrate_per_s = -1\nduration_ms = 1\n",
            "load.phases[2].name: expected",
        ),
        (
            "[[load.phases]]\nname = \"x\"\nshape = \"cliff\"\nbefore_per_s = 0\nbefore_ms = 900\npeak_per_s = 9\nfall_ms = 200\nafter_per_s = 0\nduration_ms = 1000\n",
            "load.phases[2].before_ms: the fall would end at 1100 ms; duration_ms is 1000",
        ),
        (
            "[[load.on_top]]\nat_ms = 9500\nshape = \"constant\"\nrate_per_s = 1\nduration_ms = 501\n",
            "load.on_top[0].at_ms: ends at 10001 ms, after the phases' end at 10000 ms",
        ),
        (
            "[[load.on_top]]\nat_ms = 10000\nshape = \"constant\"\nrate_per_s = 1\nduration_ms = 1\n",
            "load.on_top[0].at_ms: 10000 is after the phases' end",
        ),
        (
            "[[load.on_top]]\nshape = \"constant\"\nrate_per_s = 1\nduration_ms = 1\n",
            "load.on_top[0].at_ms: missing",
        ),
    ];
    for (more, expected) in cases {
        let problems = problems_of(&with_load(more));
        assert!(
            problems.iter().any(|p| p.starts_with(expected)),
            "{expected} not in {problems:#?}"
        );
    }
    let wrong = oversell().replace(
        "connections = 1024",
        "connections = 1024\narrivals = \"odd\"",
    );
    let problems = problems_of(&wrong);
    assert!(
        problems[0].starts_with("load.arrivals: unknown value `odd`"),
        "{problems:#?}"
    );
}

#[test]
fn what_a_population_cannot_be_is_listed_at_once() {
    let drill = oversell().replace(
        "users = 20000",
        "users = 20000\nsku_skew = -1\nbot_share = 2\nbot_addresses = 200000\nretry_share = 0.5\nretry_backoff = 0.5",
    );
    let problems = problems_of(&drill);
    let expected = [
        "sku_skew: -1 is no factor",
        "bot_share: 2 is no share",
        "retry_backoff: 0.5 is no backoff",
    ];
    for key in expected {
        assert!(
            problems.iter().any(|p| p.contains(key)),
            "{key} not in {problems:#?}"
        );
    }
    let drill = oversell().replace(
        "users = 20000",
        "users = 20000\nbot_addresses = 200000\nretry_max = 30\nretry_backoff = 2\npoll_max = 601",
    );
    let drill = drill.replace(
        "limit_per_user = 1",
        "limit_per_user = 1\nopens_at_ms = 10000",
    );
    let problems = problems_of(&drill);
    for key in [
        "population.bot_addresses: 200000 is too many",
        "population.retry_max: a buyer would go on for",
        "population.poll_max: a buyer would go on for 601000 ms",
        "sale.opens_at_ms: 10000 is after the load's end",
    ] {
        assert!(
            problems.iter().any(|p| p.starts_with(key)),
            "{key} not in {problems:#?}"
        );
    }
}

#[test]
fn a_sale_that_opens_later_needs_a_request_to_open_it_with() {
    let drill = oversell().replace(
        "limit_per_user = 1",
        "limit_per_user = 1\nopens_at_ms = 500",
    );
    let (folder, path) = folder_with(&drill);
    assert_eq!(load_plan(&path, &choices()).unwrap().sale.opens_at_ms, 500);
    let target = folder.path().join("targets/flashsale.toml");
    let text = std::fs::read_to_string(&target).unwrap();
    let open = text.find("[start.open]").unwrap();
    let next = open + text[open..].find("[requests.buy]").unwrap();
    std::fs::write(&target, format!("{}{}", &text[..open], &text[next..])).unwrap();
    match load_plan(&path, &choices()) {
        Err(FileError::Wrong { problems, .. }) => assert_eq!(
            problems.0[0].to_string(),
            "sale.opens_at_ms: target flashsale has no start.open request to open the sale with"
        ),
        other => panic!("{other:?}"),
    }
}

/// The oversell drill with top-ups: when, of which SKU, how many units.
fn with_top_ups(top_ups: &[(u64, u64, u64)]) -> String {
    let sections = top_ups.iter().map(|(at_ms, sku, units)| {
        format!("[[sale.top_ups]]\nat_ms = {at_ms}\nsku = {sku}\nunits = {units}\n\n")
    });
    let sections: String = sections.collect();
    oversell().replace("[load]", &format!("{sections}[load]"))
}

#[test]
fn top_ups_are_planned_by_the_ids_of_their_skus() {
    let (_folder, path) = folder_with(&with_top_ups(&[(2_000, 1, 50), (3_000, 5, 7)]));
    let whole = choices();
    let short = Choices {
        short: true,
        ..choices()
    };
    let planned = |choices| {
        let top_ups = load_plan(&path, choices).unwrap().sale.top_ups;
        top_ups
            .into_iter()
            .map(|one| (one.at_ms, one.sku, one.units))
            .collect::<Vec<_>>()
    };
    let at = |first, second| {
        [
            (first, "sku-01".to_owned(), 50),
            (second, "sku-05".to_owned(), 7),
        ]
    };
    assert_eq!(planned(&whole), at(2_000, 3_000));
    assert_eq!(planned(&short), at(1_600, 2_400));
}

#[test]
fn every_mistake_of_the_top_ups_is_reported() {
    let drill = with_top_ups(&[(400, 6, 1), (10_000, 1, 0)]).replace(
        "limit_per_user = 1",
        "limit_per_user = 1\nopens_at_ms = 500",
    );
    let units = "sale.top_ups[1].units: 0 is out of range";
    assert!(problems_of(&drill).iter().any(|one| one.starts_with(units)));
    let problems = problems_of(&drill.replace("units = 0", "units = 1"));
    assert_eq!(
        problems,
        [
            "sale.top_ups[0].at_ms: 400 is before the sale opens at 500 ms",
            "sale.top_ups[0].sku: there is no SKU 6; sale.skus is 5",
            "sale.top_ups[1].at_ms: 10000 is after the load's end at 10000 ms",
        ]
    );
}

#[test]
fn a_target_that_cannot_be_topped_up_is_named() {
    let (_folder, path) = folder_with(&with_top_ups(&[(2_000, 1, 50)]));
    let shop = Choices {
        target: Some(
            drills()
                .join("targets/naive-shop.toml")
                .display()
                .to_string(),
        ),
        ..choices()
    };
    match load_plan(&path, &shop) {
        Err(FileError::Wrong { problems, .. }) => assert_eq!(
            problems.0[0].to_string(),
            "sale.top_ups: target naive-shop has no start.top_up request to add units with"
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn short_shrinks_every_time_and_rate_of_the_rush_alike() {
    let path = drills().join("baseline/rush.toml");
    let long = load_plan(&path, &choices()).unwrap();
    let short = Choices {
        short: true,
        ..choices()
    };
    let short = load_plan(&path, &short).unwrap();
    // Half the rate for six tenths of the time.
    let share = short.load.schedule.count() as f64 / long.load.schedule.count() as f64;
    assert!((share - 0.3).abs() < 0.01, "{share}");
    assert_eq!(
        (long.sale.opens_at_ms, short.sale.opens_at_ms),
        (3_000, 1_800)
    );
    assert_eq!(short.load.schedule.on_top[0].at_ms, 1_740);
    let Shape::Cliff {
        before_ms,
        peak_per_s,
        ..
    } = short.load.schedule.phases[0].shape
    else {
        panic!("the first phase is a cliff")
    };
    assert_eq!((before_ms, peak_per_s), (1_800, 4_000.0));
}

/// The oversell drill with this `[journeys]` section in place of its own.
fn with_journeys(section: &str) -> String {
    let drill = oversell();
    let from = drill.find("[journeys]").unwrap();
    let to = from + drill[from..].find("[expect]").unwrap();
    format!("{}[journeys]\n{section}\n{}", &drill[..from], &drill[to..])
}

#[test]
fn every_mistake_of_the_journeys_is_reported() {
    let cases = [
        ("users = 0", "journeys.users: 0 is out of range"),
        (
            "users = 20000\nhatch_per_s = 100000",
            "journeys.users: 20000 is too many",
        ),
        ("pay_share = 1", "journeys.users: missing"),
        ("users = 1\nthink = 5", "journeys.think: unknown key"),
        (
            "users = 1\nhatch_per_s = 0",
            "journeys.hatch_per_s: 0 is no rate",
        ),
        (
            "users = 1\npay_share = 0.7\ncancel_share = 0.6",
            "journeys: pay_share + cancel_share is 1.2",
        ),
        (
            "users = 1\nstarts_at_ms = 10000",
            "journeys.starts_at_ms: 10000 is after the load's end at 10000 ms",
        ),
        (
            "users = 200\nhatch_per_s = 5",
            "journeys.hatch_per_s: the last of 200 buyers would come at 39800 ms",
        ),
    ];
    for (section, expected) in cases {
        let problems = problems_of(&with_journeys(section));
        assert!(
            problems.iter().any(|p| p.starts_with(expected)),
            "{expected} not in {problems:#?}"
        );
        assert_eq!(problems.len(), 1, "{problems:#?}");
    }
    assert_eq!(
        problems_of(&with_journeys("users = 20000\npoll_max = 0\npay_share = 2")).len(),
        2,
        "what the section itself says is reported at once"
    );
}

#[test]
fn journeys_are_optional_and_have_defaults() {
    let path = drills().join("redis/primary-kill.toml");
    assert!(load_plan(&path, &choices()).unwrap().journeys.is_none());
    let (_folder, path) = folder_with(&with_journeys("users = 6"));
    let plan = load_plan(&path, &choices()).unwrap();
    let journeys = plan.journeys.unwrap();
    assert_eq!((journeys.users, journeys.think_ms), (6, 200));
    assert_eq!((journeys.pay_share, journeys.starts_at_ms), (0.0, 0));
    assert_eq!(plan.target.status_field, "state");
}

#[test]
fn short_brings_fewer_buyers_and_at_least_one() {
    let short = Choices {
        short: true,
        ..choices()
    };
    for (users, shrunk) in [(20, 8), (1, 1)] {
        let section = format!("users = {users}\nstarts_at_ms = 1000");
        let (_folder, path) = folder_with(&with_journeys(&section));
        let journeys = load_plan(&path, &short).unwrap().journeys.unwrap();
        assert_eq!((journeys.users, journeys.starts_at_ms), (shrunk, 800));
    }
}

#[test]
fn a_challenge_and_its_field_belong_together() {
    let (folder, path) = folder_with(&oversell());
    let target = folder.path().join("targets/flashsale.toml");
    let text = std::fs::read_to_string(&target).unwrap();
    let challenge =
        "[requests.challenge]\nmethod = \"GET\"\npath = \"/challenge\"\n\n[requests.buy]";
    let with = text.replace("[requests.buy]", challenge);
    std::fs::write(&target, &with).unwrap();
    let error = load_plan(&path, &choices()).unwrap_err().to_string();
    assert!(
        error.contains("target: requests.challenge and challenge_field"),
        "{error}"
    );
    std::fs::write(&target, format!("challenge_field = \"token\"\n{with}")).unwrap();
    let plan = load_plan(&path, &choices()).unwrap();
    assert_eq!(plan.target.challenge_field.as_deref(), Some("token"));
}

/// The problems of the drill with the bundled target after some of its lines were left out.
fn problems_without(lines: &[&str]) -> Vec<String> {
    let (folder, path) = folder_with(&oversell());
    let target = folder.path().join("targets/flashsale.toml");
    let text = std::fs::read_to_string(&target).unwrap();
    let kept = text
        .lines()
        .filter(|line| !lines.iter().any(|start| line.starts_with(start)));
    std::fs::write(&target, kept.collect::<Vec<_>>().join("\n")).unwrap();
    problems_at(&path)
}

#[test]
fn a_target_needs_neither_queue_nor_cache_nor_counters() {
    let optional = [
        "topic",
        "consumer_group",
        "cache_",
        "settle_horizon_ms",
        "metrics_path",
        "[state.counters]",
        "grants",
        "unreplicated_grants",
        "broken_promises",
        "redelivered",
        "negative_stock",
        "rebuilds",
    ];
    assert_eq!(problems_without(&optional), Vec::<String>::new());
    for (one, other) in [("topic", "consumer_group"), ("consumer_group", "topic")] {
        let problems = problems_without(&[one]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(other), "{problems:?}");
    }
    let problems = problems_without(&["metrics_path"]);
    assert!(problems[0].contains("state.metrics_path"), "{problems:?}");
}

#[test]
fn what_buyers_do_and_the_target_cannot_is_refused() {
    let (folder, path) = folder_with(&oversell());
    let target = folder.path().join("targets/flashsale.toml");
    let text = std::fs::read_to_string(&target).unwrap();
    let from = text.find("[requests.status]").unwrap();
    let to = from + text[from..].find("# First rule").unwrap();
    std::fs::write(&target, format!("{}{}", &text[..from], &text[to..])).unwrap();
    let error = load_plan(&path, &choices()).unwrap_err().to_string();
    for part in [
        "population.status_share: target flashsale has no [requests.status]",
        "journeys: target flashsale has no [requests.status]",
        "population.pay_share: target flashsale has no [requests.pay]",
        "population.race_share: target flashsale has no [requests.pay]",
        "journeys.pay_share: target flashsale has no [requests.pay]",
        "population.cancel_share: target flashsale has no [requests.cancel]",
    ] {
        assert!(error.contains(part), "{part} not in: {error}");
    }
}

#[test]
fn a_target_of_the_command_line_is_a_name_or_a_file() {
    let path = drills().join("baseline/oversell.toml");
    let with = |word: &str| Choices {
        target: Some(word.to_owned()),
        ..choices()
    };
    let file = drills().join("targets/naive-shop.toml");
    for word in ["naive-shop", file.to_str().unwrap()] {
        let plan = load_plan(&path, &with(word)).unwrap();
        assert_eq!(plan.target.name, "naive-shop");
        assert!(!plan.target.state.has_queue() && plan.target.state.has_cache());
    }
    let error = load_plan(&path, &with("no-such-shop"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no-such-shop.toml"), "{error}");
}

#[test]
fn a_share_of_the_rates_is_on_top_of_short() {
    let path = drills().join("baseline/oversell.toml");
    let peak = |short, share: Option<&str>| {
        let choices = Choices {
            short,
            rate_share: share.map(|text| text.parse().unwrap()),
            ..choices()
        };
        let plan = load_plan(&path, &choices).unwrap();
        plan.load.schedule.timetable().peak_per_s().round()
    };
    assert_eq!(
        [
            peak(false, None),
            peak(false, Some("0.1")),
            peak(true, Some("0.5"))
        ],
        [10_000.0, 1_000.0, 2_000.0]
    );
}

#[test]
fn expected_alerts_are_asked_for_and_have_their_occasion() {
    let alerts = "[[expect.alerts]]\nname = \"stock_paused\"\nfault = \"redis_primary_kill\"\n\n";
    let wrong = oversell()
        .replace("\"L6\", \"A1\"]", "\"L6\"]")
        .replace("[[mutants]]", &format!("{alerts}[[mutants]]"));
    let problems = problems_of(&wrong);
    for part in [
        "expect.checks: A1 is missing",
        "expect.alerts[0].fault: the drill has no fault of kind redis_primary_kill",
    ] {
        assert!(
            problems.iter().any(|problem| problem.contains(part)),
            "{part} not in {problems:?}"
        );
    }
    let misspelt = oversell().replace(
        "[short]",
        &format!("{}[short]", alerts.replace("primary_kill", "primary_kil")),
    );
    let problems = problems_of(&misspelt);
    assert!(
        problems[0].contains("expect.alerts[0].fault"),
        "{problems:?}"
    );
}

#[test]
fn several_alerts_may_be_expected_of_one_fault() {
    let text = std::fs::read_to_string(drills().join("redis/primary-kill.toml")).unwrap();
    let second = "[[expect.alerts]]\nname = \"other\"\nfault = \"redis_primary_kill\"\n\n[short]";
    assert_eq!(
        problems_or_none(&text.replace("[short]", second)),
        Vec::<String>::new()
    );
}

#[test]
fn a_target_that_sends_no_alerts_is_not_asked_for_them() {
    let path = drills().join("redis/primary-kill.toml");
    let plan = load_plan(&path, &choices()).unwrap();
    assert!(plan.expect.checks.contains(&CheckId::A1));
    let alert = &plan.expect.alerts[0];
    assert_eq!(alert.fault.as_deref(), Some("redis_primary_kill"));
    assert_eq!((alert.within_ms, alert.at_least), (10_000, 1));

    let path = drills().join("baseline/oversell.toml");
    let naive = Choices {
        target: Some("naive-shop".to_owned()),
        ..choices()
    };
    let plan = load_plan(&path, &naive).unwrap();
    assert!(!plan.expect.checks.contains(&CheckId::A1));
    assert!(plan.expect.checks.contains(&CheckId::L6));
}

#[test]
fn a_drill_may_set_variables_of_the_services_environment() {
    let with = |section: &str| oversell().replace("[sale]", &format!("{section}\n\n[sale]"));
    let (_folder, path) = folder_with(&with(
        "[service]\nenv = { FLASHSALE_ROLE = \"all\", NEW = \"1\" }",
    ));
    let plan = load_plan(&path, &choices()).unwrap();
    let env = &plan.target.start.env;
    assert_eq!(env["FLASHSALE_ROLE"], "all", "instead of the target's");
    assert_eq!(env["NEW"], "1");
    assert_eq!(env["FLASHSALE_OPS_TOKEN"], "drill", "the others stay");
    assert_eq!(plan.service.len(), 1);
}

#[test]
fn a_variant_of_the_target_changes_the_environment_and_picks_its_mutants() {
    let file = |variants: &str| {
        let mutants =
            "[[mutants]]\nname = \"leaves-orphans\"\nvariant = \"outbox\"\ncheck = \"L3\"\n";
        let section =
            format!("[service]\n{variants}env = {{ FLASHSALE_QUEUE = \"stream\" }}\n\n[sale]");
        oversell().replace("[sale]", &section) + mutants
    };
    let (_folder, path) = folder_with(&file("variants = [\"outbox\"]\n"));
    let under = |variant: Option<&str>, target: Option<&str>| {
        let choices = Choices {
            variant: variant.map(str::to_owned),
            target: target.map(str::to_owned),
            ..choices()
        };
        load_plan(&path, &choices)
    };
    let names = |plan: &Plan| {
        plan.mutants
            .iter()
            .map(|one| one.name.clone())
            .collect::<Vec<_>>()
    };
    let plain = under(None, None).unwrap();
    assert_eq!(plain.variants, ["outbox"]);
    assert_eq!(plain.target.start.env["FLASHSALE_QUEUE"], "stream");
    assert!(!names(&plain).contains(&"leaves-orphans".to_owned()));

    let outbox = under(Some("outbox"), None).unwrap();
    assert_eq!(outbox.drill, format!("{}@outbox", plain.drill));
    assert_eq!(outbox.target.start.env["FLASHSALE_QUEUE"], "outbox");
    assert_eq!(names(&outbox), ["leaves-orphans"]);

    let wrong = under(Some("pigeon"), None).unwrap_err().to_string();
    assert!(
        wrong.contains("variant: the target knows no variant `pigeon`"),
        "{wrong}"
    );
    let shop = drills().join("targets/naive-shop.toml");
    let other = under(None, shop.to_str());
    let other = other.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        other.variants.is_empty(),
        "another target has none of these"
    );
}
