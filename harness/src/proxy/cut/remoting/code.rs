//! Request codes by name (`RequestCode`).

pub(super) const SUCCESS: i32 = 0;
pub(super) const PULL_MESSAGE: &str = "PULL_MESSAGE";
const SEND_MESSAGE: &str = "SEND_MESSAGE";
const END_TRANSACTION: &str = "END_TRANSACTION";
const UPDATE_CONSUMER_OFFSET: &str = "UPDATE_CONSUMER_OFFSET";
const GET_ROUTEINFO_BY_TOPIC: &str = "GET_ROUTEINFO_BY_TOPIC";
const GET_BROKER_CLUSTER_INFO: &str = "GET_BROKER_CLUSTER_INFO";

/// Codes with the same meaning share a name. The others are called by their number.
const NAMES: [(i32, &str); 12] = [
    (10, SEND_MESSAGE),
    (310, SEND_MESSAGE),
    (320, SEND_MESSAGE),
    (11, PULL_MESSAGE),
    (361, PULL_MESSAGE),
    (15, UPDATE_CONSUMER_OFFSET),
    (34, "HEART_BEAT"),
    (36, "CONSUMER_SEND_MSG_BACK"),
    (37, END_TRANSACTION),
    (39, "CHECK_TRANSACTION_STATE"),
    (105, GET_ROUTEINFO_BY_TOPIC),
    (106, GET_BROKER_CLUSTER_INFO),
];

pub(super) fn name(code: i32) -> String {
    let name = NAMES.iter().find(|(known, _)| *known == code);
    name.map_or_else(|| code.to_string(), |(_, name)| (*name).to_owned())
}

pub(in super::super) fn is_known(name: &str) -> bool {
    name.parse::<i32>().is_ok() || NAMES.iter().any(|(_, known)| *known == name)
}

/// Clients send it without waiting for an answer.
pub(in super::super) fn is_one_way(name: &str) -> bool {
    [END_TRANSACTION, UPDATE_CONSUMER_OFFSET].contains(&name)
}

pub(in super::super) fn can_repeat(name: &str) -> bool {
    [SEND_MESSAGE, PULL_MESSAGE].contains(&name)
}

/// A name server's answer tells where brokers are.
pub(super) fn tells_addresses(name: &str) -> bool {
    [GET_ROUTEINFO_BY_TOPIC, GET_BROKER_CLUSTER_INFO].contains(&name)
}
