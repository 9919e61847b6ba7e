//! A cut point: where in the conversation, and what happens there.

use serde::{Deserialize, Serialize};

use super::super::error::ProxyError;
use super::remoting::code;

/// What a link carries. Its connections are parsed from their first byte on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Redis.
    Resp,
    /// MySQL and MariaDB.
    Mysql,
    /// `RocketMQ`.
    Remoting,
}

impl Protocol {
    pub fn name(self) -> &'static str {
        match self {
            Self::Resp => "resp",
            Self::Mysql => "mysql",
            Self::Remoting => "remoting",
        }
    }
}

/// `PUT /proxies/{p}/protocol`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FollowRequest {
    /// `null`: the link's bytes mean nothing.
    pub protocol: Option<Protocol>,
}

/// How a connection ends at a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The client sees a reset, the server a close.
    Reset,
    /// Nothing passes any more, and nobody is told. Removing the cut resets the connection.
    Hang,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// The request is executed, its reply swallowed whole. Only replies of success count: an error says that nothing
    /// was executed.
    LoseReply { then: Then },
    /// The request is forwarded whole, then the connection reset, whatever the server does with it.
    Close,
    /// The request never arrives. `Remoting` only.
    Drop,
    /// The request arrives this much later, alone and over a connection of its own; those behind it do not wait.
    /// Only requests without an answer (`END_TRANSACTION`, `UPDATE_CONSUMER_OFFSET`).
    Delay { delay_ms: u64 },
    /// `SEND_MESSAGE`: the broker gets the message twice, as from a producer that tries again; the second answer is
    /// swallowed. `PULL_MESSAGE`: the consumer's next pull of that queue begins where the answered one did, as after
    /// a rebalance, so that it gets the same messages again.
    Twice,
}

/// `POST /proxies/{p}/cuts`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Default: `{at}_{action}` in lower case.
    #[serde(default)]
    pub name: String,
    pub protocol: Protocol,
    /// The command: `EVALSHA`, `COMMIT`, `END_TRANSACTION`; in any case of letters. MySQL's commands are the first
    /// keywords of statements, those of `Remoting` names or numbers of request codes.
    pub at: String,
    /// RESP: only commands whose first key is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Which of the commands from now on, over all connections of the link: 1 is the next one.
    #[serde(default = "once")]
    pub nth: u64,
    /// How many in a row.
    #[serde(default = "once")]
    pub times: u64,
    pub action: Action,
}

fn once() -> u64 {
    1
}

/// A cut as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutView {
    #[serde(flatten)]
    pub cut: Cut,
    /// Commands at which it could have fired, those where it did among them. Where replies are lost: replies of
    /// success.
    pub seen: u64,
    /// How often it was carried out, to the end.
    pub fired: u64,
    /// Open connections of the link on which it can fire. Those that were opened before the link had a protocol, and
    /// those that became unintelligible, are not among them.
    pub connections_followed: u64,
    /// The lease that removes the cut when it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
}

impl Cut {
    /// The next `at` meets `action`.
    pub fn next(protocol: Protocol, at: &str, action: Action) -> Self {
        Self {
            name: String::new(),
            protocol,
            at: at.to_owned(),
            key: None,
            nth: 1,
            times: 1,
            action,
        }
        .named()
    }

    /// Whether connections can hang at it.
    pub(super) fn can_hang(&self) -> bool {
        matches!(self.action, Action::LoseReply { then: Then::Hang })
    }

    #[must_use]
    pub fn named(mut self) -> Self {
        if self.name.is_empty() {
            let action = match self.action {
                Action::LoseReply { .. } => "lose_reply",
                Action::Close => "close",
                Action::Drop => "drop",
                Action::Delay { .. } => "delay",
                Action::Twice => "twice",
            };
            self.name = format!("{}_{action}", self.at.to_ascii_lowercase());
        }
        self
    }

    /// # Errors
    /// Everything that is wrong with it, at once.
    pub fn check(&self) -> Result<(), ProxyError> {
        let remoting = self.protocol == Protocol::Remoting;
        let at = self.at.to_ascii_uppercase();
        let is_frame = matches!(
            self.action,
            Action::Drop | Action::Delay { .. } | Action::Twice
        );
        let wrong = [
            (self.name.contains('/'), "name: a name has no `/`"),
            (self.at.trim().is_empty(), "at: names no command"),
            (
                remoting && !code::is_known(&at),
                "at: no request code of RocketMQ (END_TRANSACTION, SEND_MESSAGE, PULL_MESSAGE, or a number)",
            ),
            (
                self.key.is_some() && self.protocol != Protocol::Resp,
                "key: only commands of `resp` have one",
            ),
            (self.nth == 0, "nth: 1 is the next one"),
            (self.times == 0, "times: at least 1"),
            (
                is_frame && !remoting,
                "action: only requests of `remoting` can be dropped, delayed or repeated",
            ),
            (
                matches!(self.action, Action::Delay { .. }) && !code::is_one_way(&at),
                "action: only requests without an answer can be delayed (END_TRANSACTION, UPDATE_CONSUMER_OFFSET)",
            ),
            (
                self.action == Action::Twice && !code::can_repeat(&at),
                "action: only SEND_MESSAGE and PULL_MESSAGE can be repeated",
            ),
            (
                matches!(self.action, Action::LoseReply { .. })
                    && remoting
                    && code::is_one_way(&at),
                "action: this request has no reply that could be lost",
            ),
        ];
        let wrong: Vec<&str> = wrong
            .iter()
            .filter_map(|(is_wrong, what)| is_wrong.then_some(*what))
            .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(ProxyError::BadBody {
            reason: wrong.join("; "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_it_is_written_and_names_every_mistake() {
        let cut: Cut = serde_json::from_str(
            r#"{"protocol": "resp", "at": "EVALSHA", "action": {"type": "lose_reply", "then": "reset"}}"#,
        )
        .unwrap();
        assert_eq!((cut.nth, cut.times), (1, 1));
        assert_eq!(cut.clone().named().name, "evalsha_lose_reply");
        assert!(cut.check().is_ok());
        let wrong = Cut {
            name: "a/b".into(),
            key: Some("k".into()),
            nth: 0,
            times: 0,
            ..Cut::next(Protocol::Mysql, " ", Action::Drop)
        };
        let told = wrong.check().unwrap_err().to_string();
        for part in ["name:", "at:", "key:", "nth:", "times:", "action:"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }

    #[test]
    fn only_what_is_sound_is_allowed_at_a_broker() {
        let delay = Action::Delay { delay_ms: 1 };
        let lost = Action::LoseReply { then: Then::Reset };
        let cases = [
            ("END_TRANSACTION", Action::Drop, true),
            ("END_TRANSACTION", delay, true),
            ("end_transaction", lost, false),
            ("SEND_MESSAGE", lost, true),
            ("SEND_MESSAGE", delay, false),
            ("SEND_MESSAGE", Action::Twice, true),
            ("HEART_BEAT", Action::Twice, false),
            ("105", Action::Drop, true),
            ("NONSENSE", Action::Drop, false),
        ];
        for (at, action, is_ok) in cases {
            let cut = Cut::next(Protocol::Remoting, at, action);
            assert_eq!(cut.check().is_ok(), is_ok, "{at} {action:?}");
        }
    }
}
