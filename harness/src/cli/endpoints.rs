//! `flashdrill up --write-endpoints`: the endpoints file of a stack of ours, to try on one machine how to attach.

use std::fmt::Write as _;

use crate::environment::{RedisNode, Stack};
use crate::faults::{Fault, Need};

/// Everything is allowed that can be done from outside.
pub fn describe(stack: &Stack) -> String {
    let kinds = Fault::KINDS.iter().filter(|about| {
        let from_outside = |need: &Need| matches!(need, Need::BuiltInProxy | Need::MysqlReplica);
        about.needs.iter().all(from_outside)
    });
    let nodes = stack.redis.nodes.iter().map(RedisNode::address);
    let mut text = format!(
        "# A stack that `flashdrill up` keeps. See drills/endpoints/example.toml.\n\
         may_reset = true\nfaults = [{}]\n\n[redis]\nnodes = [{}]\n\n[mysql]\nurl = {:?}\n\
         service_url = {:?}\nnode_url = {:?}\n",
        list(kinds.map(|about| about.kind)),
        list(nodes),
        stack.mysql.url(),
        stack.mysql.service_account_url(),
        stack.mysql.node_account_url()
    );
    if let Some(replica) = &stack.mysql_replica {
        let _ = writeln!(text, "replica_url = {:?}", replica.mysql.url());
    }
    let name_server = stack.rocketmq.name_server_address;
    let _ = writeln!(text, "\n[rocketmq]\nname_server = \"{name_server}\"");
    text
}

fn list(items: impl Iterator<Item = impl ToString>) -> String {
    let quoted: Vec<String> = items
        .map(|item| format!("{:?}", item.to_string()))
        .collect();
    quoted.join(", ")
}
