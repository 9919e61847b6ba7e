//! The MySQL client/server protocol, as MySQL and MariaDB speak it: which statements are run, and how each reply
//! begins. Source: dev.mysql.com/doc/dev/mysql-server, "Client/Server Protocol".
//!
//! A reply is known by its first packet only, which says whether the statement was executed: where a result set ends
//! matters to nobody here.

mod packets;
mod statement;

use std::collections::HashMap;

use self::packets::{Packet, Packets};
use self::statement::keyword;
use super::{Answered, Asked, Conversation, Strange};

/// Prepared statements of one connection that are remembered; later ones have no word.
const STATEMENTS_MAX: usize = 4096;

const COMPRESS: u32 = 1 << 5;
const PROTOCOL_41: u32 = 1 << 9;
const SSL: u32 = 1 << 11;
const ZSTD: u32 = 1 << 26;
const QUERY_ATTRIBUTES: u32 = 1 << 27;

const OK: u8 = 0;
const ERROR: u8 = 0xff;
const PROTOCOL_VERSION: u8 = 10;

/// Both directions of one connection.
#[derive(Debug, Default)]
pub struct Mysql {
    client: Packets,
    server: Packets,
    session: Session,
}

#[derive(Debug, Default)]
struct Session {
    phase: Phase,
    has_query_attributes: bool,
    /// First keyword of each prepared statement, by its id.
    statements: HashMap<u32, Vec<u8>>,
    /// The statement that is being prepared.
    preparing: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    /// Somewhere in a connection; nothing is known before the client sends a whole command.
    Joining,
    /// The server speaks first.
    #[default]
    Greeting,
    Login,
    Authentication,
    Idle,
    /// A command was sent whose reply begins with this sequence number.
    Asked {
        sequence: u8,
    },
    /// The reply has begun. That it has ended is known when the client goes on.
    Answering,
}

impl Mysql {
    /// Joins a connection that is not fresh. Statements that were prepared before have no word.
    pub fn of(is_fresh: bool) -> Self {
        let mut mysql = Self::default();
        if !is_fresh {
            mysql.session.phase = Phase::Joining;
        }
        mysql
    }
}

/// A chunk that is one command, and nothing else.
fn is_command(chunk: &[u8]) -> bool {
    let Some(([a, b, c, 0, command], rest)) = chunk.split_first_chunk::<5>() else {
        return false;
    };
    u32::from_le_bytes([*a, *b, *c, 0]) as usize == rest.len() + 1 && Command::of(*command).is_ok()
}

impl Conversation for Mysql {
    fn is_following(&self) -> bool {
        self.session.phase != Phase::Joining
    }

    fn client_sent(
        &mut self,
        bytes: &[u8],
        mut hear: impl FnMut(Asked<'_>),
    ) -> Result<(), Strange> {
        let session = &mut self.session;
        if session.phase == Phase::Joining {
            if !is_command(bytes) {
                return Ok(());
            }
            session.phase = Phase::Idle;
        }
        self.client
            .read(bytes, |packet| session.client_sent(packet, &mut hear))
    }

    fn server_sent(&mut self, bytes: &[u8], mut hear: impl FnMut(Answered)) -> Result<(), Strange> {
        let session = &mut self.session;
        if session.phase == Phase::Joining {
            return Ok(());
        }
        self.server
            .read(bytes, |packet| session.server_sent(packet, &mut hear))
    }
}

impl Session {
    fn client_sent(
        &mut self,
        packet: &Packet<'_>,
        hear: &mut impl FnMut(Asked<'_>),
    ) -> Result<(), Strange> {
        match self.phase {
            Phase::Joining | Phase::Greeting => Err(Strange),
            Phase::Login => self.login(packet),
            Phase::Authentication => Ok(()),
            Phase::Idle | Phase::Asked { .. } | Phase::Answering => self.command(packet, hear),
        }
    }

    fn login(&mut self, packet: &Packet<'_>) -> Result<(), Strange> {
        let capabilities = packet.head.first_chunk().ok_or(Strange)?;
        let capabilities = u32::from_le_bytes(*capabilities);
        let unfollowed = SSL | COMPRESS | ZSTD;
        if capabilities & PROTOCOL_41 == 0 || capabilities & unfollowed != 0 {
            return Err(Strange);
        }
        self.has_query_attributes = capabilities & QUERY_ATTRIBUTES != 0;
        self.phase = Phase::Authentication;
        Ok(())
    }

    fn command(
        &mut self,
        packet: &Packet<'_>,
        hear: &mut impl FnMut(Asked<'_>),
    ) -> Result<(), Strange> {
        let (command, argument) = packet.head.split_first().ok_or(Strange)?;
        // Anything but a command's first packet, such as a file that the server asked for.
        if packet.sequence_first != 0 {
            return Err(Strange);
        }
        let command = Command::of(*command)?;
        if command == Command::Unanswered {
            return Ok(());
        }
        // Sent ahead of a reply: where that one ends is not followed.
        if matches!(self.phase, Phase::Asked { .. }) {
            return Err(Strange);
        }
        let word = match command {
            Command::Query => keyword(argument, self.has_query_attributes).to_vec(),
            Command::Execute => self.statement(argument),
            _ => Vec::new(),
        };
        if command == Command::Prepare {
            self.preparing = Some(keyword(argument, false).to_vec());
        }
        self.phase = match command {
            Command::ChangeUser => Phase::Authentication,
            _ => Phase::Asked {
                sequence: packet.sequence_last.wrapping_add(1),
            },
        };
        if command != Command::ChangeUser {
            hear(Asked {
                word: &word,
                key: b"",
                end: packet.end,
            });
        }
        Ok(())
    }

    fn statement(&self, argument: &[u8]) -> Vec<u8> {
        let id = argument.first_chunk().map(|id| u32::from_le_bytes(*id));
        id.and_then(|id| self.statements.get(&id).cloned())
            .unwrap_or_default()
    }

    fn server_sent(
        &mut self,
        packet: &Packet<'_>,
        hear: &mut impl FnMut(Answered),
    ) -> Result<(), Strange> {
        let first = *packet.head.first().ok_or(Strange)?;
        match self.phase {
            Phase::Greeting if first == PROTOCOL_VERSION => self.phase = Phase::Login,
            Phase::Authentication if first == OK => self.phase = Phase::Idle,
            Phase::Authentication if first != ERROR => {}
            Phase::Asked { sequence } if packet.sequence_first == sequence => {
                self.remember(packet.head);
                self.phase = Phase::Answering;
                hear(Answered::Starts {
                    at: packet.start,
                    is_ok: first != ERROR,
                });
                hear(Answered::Ends { at: packet.end });
            }
            Phase::Answering => {}
            // Also an error of a server that gives the connection up.
            _ => return Err(Strange),
        }
        Ok(())
    }

    /// The id of the statement that was being prepared comes right after the OK.
    fn remember(&mut self, head: &[u8]) {
        if let (Some(word), Some([OK, id @ ..])) = (self.preparing.take(), head.first_chunk::<5>())
            && self.statements.len() < STATEMENTS_MAX
        {
            self.statements.insert(u32::from_le_bytes(*id), word);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Query,
    Prepare,
    Execute,
    ChangeUser,
    /// The server says nothing to it.
    Unanswered,
    Other,
}

impl Command {
    fn of(byte: u8) -> Result<Self, Strange> {
        match byte {
            0x03 => Ok(Self::Query),
            0x16 => Ok(Self::Prepare),
            0x17 => Ok(Self::Execute),
            0x11 => Ok(Self::ChangeUser),
            // Quit, long data, close of a statement.
            0x01 | 0x18 | 0x19 => Ok(Self::Unanswered),
            // A replica's stream of the binary log.
            0x12 | 0x1e => Err(Strange),
            _ => Ok(Self::Other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_le_bytes();
        [&length[..3], &[sequence], payload].concat()
    }

    fn login(capabilities: u32) -> Vec<u8> {
        packet(1, &[&capabilities.to_le_bytes()[..], &[0; 28]].concat())
    }

    /// A connection that is logged in.
    fn connected() -> Mysql {
        let mut mysql = Mysql::default();
        let greeting = packet(0, b"\x0a8.0.36\0 and so on");
        mysql.server_sent(&greeting, |_| panic!()).unwrap();
        mysql
            .client_sent(&login(PROTOCOL_41), |_| panic!())
            .unwrap();
        mysql
            .server_sent(&packet(2, b"\x01\x03"), |_| panic!())
            .unwrap();
        mysql
            .server_sent(&packet(3, b"\0\0\0"), |_| panic!())
            .unwrap();
        mysql
    }

    fn ask(mysql: &mut Mysql, chunk: usize, payload: &[u8]) -> Result<String, Strange> {
        let mut words = Vec::new();
        for bytes in packet(0, payload).chunks(chunk) {
            mysql.client_sent(bytes, |asked| words.extend_from_slice(asked.word))?;
        }
        Ok(String::from_utf8(words).unwrap())
    }

    fn answer(mysql: &mut Mysql, chunk: usize, packets: &[Vec<u8>]) -> Result<Vec<bool>, Strange> {
        let mut replies = Vec::new();
        for bytes in packets.concat().chunks(chunk) {
            mysql.server_sent(bytes, |answered| {
                if let Answered::Starts { is_ok, .. } = answered {
                    replies.push(is_ok);
                }
            })?;
        }
        Ok(replies)
    }

    #[test]
    fn finds_a_commit_as_text_and_as_a_prepared_statement() {
        for chunk in [1, 3, 64] {
            let mut mysql = connected();
            let ok = packet(1, b"\0\0\0\x02\0\0\0");
            assert_eq!(ask(&mut mysql, chunk, b"\x03COMMIT").unwrap(), "COMMIT");
            assert_eq!(
                answer(&mut mysql, chunk, std::slice::from_ref(&ok)),
                Ok(vec![true])
            );
            assert_eq!(ask(&mut mysql, chunk, b"\x16 commit").unwrap(), "");
            let prepared = packet(1, b"\0\x07\0\0\0\0\0\0\0");
            assert_eq!(answer(&mut mysql, chunk, &[prepared]), Ok(vec![true]));
            assert_eq!(
                ask(&mut mysql, chunk, b"\x19\x09\0\0\0").unwrap(),
                "",
                "no reply"
            );
            assert_eq!(
                ask(&mut mysql, chunk, b"\x17\x07\0\0\0\0").unwrap(),
                "commit"
            );
            let error = packet(1, b"\xff\x15\x04#HY000");
            assert_eq!(answer(&mut mysql, chunk, &[error]), Ok(vec![false]));
            assert_eq!(ask(&mut mysql, chunk, b"\x03SELECT 1").unwrap(), "SELECT");
            let rows = [packet(1, b"\x01"), packet(2, b"column"), packet(3, b"\xfe")];
            assert_eq!(
                answer(&mut mysql, chunk, &rows),
                Ok(vec![true]),
                "one reply"
            );
        }
    }

    #[test]
    fn joins_at_a_whole_command() {
        let mut mysql = Mysql::of(false);
        mysql.server_sent(b"rest of a reply", |_| panic!()).unwrap();
        mysql.client_sent(b"rest of a query", |_| panic!()).unwrap();
        assert!(!mysql.is_following());
        assert_eq!(ask(&mut mysql, 64, b"\x03COMMIT").unwrap(), "COMMIT");
        assert!(mysql.is_following());
        assert_eq!(
            answer(&mut mysql, 2, &[packet(1, b"\0\0\0")]),
            Ok(vec![true])
        );
    }

    #[test]
    fn does_not_follow_tls_compression_or_commands_ahead_of_replies() {
        for capabilities in [0, PROTOCOL_41 | SSL, PROTOCOL_41 | COMPRESS] {
            let mut mysql = Mysql::default();
            mysql.server_sent(&packet(0, b"\x0a8.0"), |_| {}).unwrap();
            let refused = mysql.client_sent(&login(capabilities), |_| {});
            assert_eq!(refused, Err(Strange), "{capabilities:x}");
        }
        let mut mysql = connected();
        ask(&mut mysql, 64, b"\x03SELECT 1").unwrap();
        assert_eq!(ask(&mut mysql, 64, b"\x03COMMIT"), Err(Strange));
        assert_eq!(
            connected().server_sent(&packet(0, b"\xffbye"), |_| {}),
            Err(Strange)
        );
        let first = Mysql::default().client_sent(b"GET / HTTP/1.1", |_| {});
        assert_eq!(first, Ok(()), "an unfinished packet says nothing yet");
    }
}
