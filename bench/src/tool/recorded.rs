//! What the tools really send, as a plain listener reads it. Tools that are not on the search path are left out.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use super::{ALL, Load, Pace, Tool};
use crate::request::{BODY, PATH, Requests, TEMPLATE};
use crate::scratch::Scratch;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// Answers every request, and hands on its head and body.
fn read(mut stream: TcpStream, seen: &Sender<(String, String)>) {
    let mut unread = Vec::new();
    let mut chunk = [0; 65_536];
    while let Ok(count @ 1..) = stream.read(&mut chunk) {
        unread.extend_from_slice(&chunk[..count]);
        while let Some((request, length)) = first(&unread) {
            unread.drain(..length);
            // Nobody listens once enough was seen, and the tool may have gone.
            let _ = seen.send(request);
            let _ = stream.write_all(ANSWER);
        }
    }
}

/// The first request, if all of it is here, and its length.
fn first(bytes: &[u8]) -> Option<((String, String), usize)> {
    let text = std::str::from_utf8(bytes).expect("requests in ASCII");
    let (head, rest) = text.split_once("\r\n\r\n")?;
    let lengths = head.lines().filter_map(|line| line.split_once(": "));
    let mut lengths = lengths.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let (_, length) = lengths.next().expect("a length");
    let length: usize = length.parse().expect("a number");
    let body = rest.get(..length)?;
    Some(((head.to_owned(), body.to_owned()), head.len() + 4 + length))
}

fn recorded(tool: &dyn Tool, pace: Pace, requests: Requests) -> Option<Vec<(String, String)>> {
    let program = tool.program()?;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}{PATH}", listener.local_addr().unwrap());
    let (seen, requests_seen) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let seen = seen.clone();
            thread::spawn(move || read(stream, &seen));
        }
    });
    let name = format!("recorded-{}-{pace:?}-{requests:?}", tool.name());
    let scratch = Scratch::new(&name).unwrap();
    let load = Load {
        url: &url,
        pace,
        requests,
        duration_ms: 1000,
        scratch: scratch.path(),
    };
    let command = tool.command(&program, &load).unwrap();
    let output = command.map(|mut command| command.output().unwrap());
    let output = output?;
    assert!(tool.is_done(output.status), "{output:?}");
    Some(requests_seen.try_iter().collect())
}

fn values(body: &str) -> Vec<&str> {
    let fields = body.split('&').map(|field| field.split_once('=').unwrap());
    fields.map(|(_, value)| value).collect()
}

fn names(body: &str) -> Vec<&str> {
    body.split('&')
        .filter_map(|field| field.split('=').next())
        .collect()
}

#[test]
fn each_request_has_its_own_user_and_request_id() {
    for tool in ALL {
        for pace in [Pace::Closed, Pace::Pipelined] {
            let Some(seen) = recorded(tool, pace, Requests::Own) else {
                continue;
            };
            let name = tool.name();
            assert!(seen.len() > 100, "{name} {pace:?}: {} requests", seen.len());
            let (mut users, mut request_ids) = (HashSet::new(), HashSet::new());
            for (head, body) in &seen {
                assert!(head.starts_with("POST /buy HTTP/1.1\r\n"), "{head}");
                assert!(head.contains("\r\nHost: 127.0.0.1:"), "{head}");
                assert_eq!(
                    (body.len(), names(body)),
                    (BODY.len(), names(TEMPLATE)),
                    "{body}"
                );
                let [sku, user, quantity, request_id] = values(body)[..] else {
                    panic!("{name} {pace:?}: {body}");
                };
                assert_eq!((sku, quantity), ("7", "1"), "{body}");
                assert!(users.insert(user), "{name} {pace:?}: {user} twice");
                assert!(
                    request_ids.insert(request_id),
                    "{name} {pace:?}: {request_id} twice"
                );
            }
        }
    }
}

#[test]
fn the_same_request_has_one_body() {
    for tool in ALL {
        let Some(seen) = recorded(tool, Pace::Closed, Requests::Same) else {
            continue;
        };
        let other = seen.iter().find(|(_, body)| body != BODY);
        assert_eq!(other, None, "{}", tool.name());
    }
}
