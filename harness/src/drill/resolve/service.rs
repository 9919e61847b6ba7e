//! Which nodes of the service run.

use crate::drill::file::ServiceSection;
use crate::drill::problems::Problems;
use crate::target::{Role, Start};

pub fn check(section: &ServiceSection, start: &Start, problems: &mut Problems) {
    match (&section.nodes, &section.roles) {
        (Some(_), Some(_)) => problems.push("service", "either nodes or roles, not both"),
        (None, None) if section.env.is_empty() && section.variants.is_empty() => {
            problems.push(
                "service",
                "nodes, roles, env or variants must say what runs",
            );
        }
        (None, Some(roles)) => check_roles(roles, start, problems),
        (_, None) => {}
    }
}

/// The variants that a drill names must be its target's. Of another target, those that it has are taken.
pub fn check_variants(section: &ServiceSection, start: &Start, problems: &mut Problems) {
    for (index, name) in section.variants.iter().enumerate() {
        check_variant(&format!("service.variants[{index}]"), name, start, problems);
    }
}

/// A variant that somebody names must be one of the target's.
pub fn check_variant(place: &str, name: &str, start: &Start, problems: &mut Problems) {
    if start.variants.contains_key(name) {
        return;
    }
    let known: Vec<&str> = start.variants.keys().map(String::as_str).collect();
    problems.push(place, unknown("variant", name, &known));
}

/// Of a name that is none of the target's.
fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let known = match known {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    format!("the target knows no {what} `{name}`; it has: {known}")
}

fn check_roles(roles: &[String], start: &Start, problems: &mut Problems) {
    let known: Vec<&str> = start.roles.iter().map(|role| role.name.as_str()).collect();
    for (index, role) in roles.iter().enumerate() {
        if !known.contains(&role.as_str()) {
            let message = unknown("role", role, &known);
            problems.push(format!("service.roles[{index}]"), message);
        }
    }
    if !nodes(roles, start).iter().any(|role| role.takes_buyers) {
        problems.push("service.roles", "no node among them takes buyers");
    }
}

fn nodes(roles: &[String], start: &Start) -> Vec<Role> {
    let of = |name: &String| start.roles.iter().find(|role| role.name == *name);
    roles.iter().filter_map(of).cloned().collect()
}

/// The role of each node, at least one. Nodes without a role of their own have the target's first.
pub fn service(section: Option<&ServiceSection>, start: &Start) -> Vec<Role> {
    let first = || start.roles.first().cloned().unwrap_or_default();
    match section {
        Some(ServiceSection {
            roles: Some(roles), ..
        }) => nodes(roles, start),
        Some(ServiceSection {
            nodes: Some(nodes), ..
        }) => vec![first(); nodes.get() as usize],
        _ => vec![first()],
    }
}

/// How many nodes a drill has, whatever they do.
pub fn count(section: Option<&ServiceSection>) -> usize {
    section.map_or(1, |section| match (&section.nodes, &section.roles) {
        (Some(nodes), _) => nodes.get() as usize,
        (None, Some(roles)) => roles.len(),
        (None, None) => 1,
    })
}
