//! Request bytes: templates of the target filled as far as possible before the load, so that one
//! request is a few copies and two numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::net::Ipv4Addr;

use super::address;
use crate::target::RequestTemplate;
use crate::target::template::{Piece, UnknownVariable, Variables, pieces};

/// Bytes of one request, with gaps for what differs from buyer to buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestImage {
    parts: Vec<Part>,
    /// Length of the body without the order ids and addresses in it.
    body_len: usize,
    order_ids_in_body: usize,
    addresses_in_body: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    User,
    RequestId,
    OrderId,
    Address,
    BodyLength,
}

/// What fills the gaps.
#[derive(Debug, Clone, Copy)]
pub struct Gaps<'a> {
    pub user: u64,
    /// First half of the request id, the same for the whole run.
    pub request_prefix: u32,
    pub key: u64,
    /// Empty in requests that come before an order id is known.
    pub order_id: &'a str,
    pub address: Ipv4Addr,
}

/// Lengths of `population::user_id` and `population::request_id`.
const USER_LEN: usize = 13;
const REQUEST_ID_LEN: usize = 24;

impl RequestImage {
    /// Fills a template with `variables`; `{user}`, `{request_id}`, `{order_id}` and
    /// `{address}` stay open.
    ///
    /// # Errors
    /// The first variable that is none of these.
    pub fn new(
        template: &RequestTemplate,
        variables: &Variables,
        authority: &str,
    ) -> Result<Self, UnknownVariable> {
        let mut body = Parts::new(variables);
        body.template(&template.body)?;
        let mut head = Parts::new(variables);
        head.text(&format!("{} ", template.method));
        head.template(&template.path)?;
        head.text(" HTTP/1.1\r\n");
        headers(&mut head, &template.headers, authority)?;
        if !body.parts.is_empty() || template.method != "GET" {
            head.text("Content-Length: ");
            head.parts.push(Part::BodyLength);
            head.text("\r\n");
        }
        head.text("\r\n");
        Ok(Self::joined(head.parts, body.parts))
    }

    fn joined(head: Vec<Part>, body: Vec<Part>) -> Self {
        let in_body = |one: &Part| body.iter().filter(|part| *part == one).count();
        let order_ids_in_body = in_body(&Part::OrderId);
        let addresses_in_body = in_body(&Part::Address);
        let body_len = body.iter().map(Part::fixed_len).sum();
        let mut parts = Vec::new();
        for part in head.into_iter().chain(body) {
            let part = match part {
                // Known now, so it need not be counted for each request.
                Part::BodyLength if order_ids_in_body + addresses_in_body == 0 => {
                    Part::Text(format!("{body_len}").into_bytes())
                }
                other => other,
            };
            push(&mut parts, part);
        }
        Self {
            parts,
            body_len,
            order_ids_in_body,
            addresses_in_body,
        }
    }

    /// Appends one request to `out`.
    pub fn write(&self, gaps: &Gaps<'_>, out: &mut Vec<u8>) {
        for part in &self.parts {
            match part {
                Part::Text(bytes) => out.extend_from_slice(bytes),
                Part::User => user(out, gaps.user),
                Part::RequestId => hex(out, gaps.request_prefix, gaps.key),
                Part::OrderId => out.extend_from_slice(gaps.order_id.as_bytes()),
                Part::Address => address::write(gaps.address, out),
                Part::BodyLength => {
                    let len = self.body_len
                        + self.order_ids_in_body * gaps.order_id.len()
                        + self.addresses_in_body * address::text_len(gaps.address);
                    append(out, format_args!("{len}"));
                }
            }
        }
    }
}

impl Part {
    fn fixed_len(&self) -> usize {
        match self {
            Self::Text(bytes) => bytes.len(),
            Self::User => USER_LEN,
            Self::RequestId => REQUEST_ID_LEN,
            Self::OrderId | Self::Address | Self::BodyLength => 0,
        }
    }
}

/// Parts of a template, neighbouring texts joined.
struct Parts<'v> {
    parts: Vec<Part>,
    variables: &'v Variables,
}

impl<'v> Parts<'v> {
    fn new(variables: &'v Variables) -> Self {
        Self {
            parts: Vec::new(),
            variables,
        }
    }

    fn text(&mut self, text: &str) {
        push(&mut self.parts, Part::Text(text.as_bytes().to_vec()));
    }

    fn template(&mut self, template: &str) -> Result<(), UnknownVariable> {
        for piece in pieces(template) {
            match piece {
                Piece::Text(text) => self.text(text),
                Piece::Variable("user") => self.parts.push(Part::User),
                Piece::Variable("request_id") => self.parts.push(Part::RequestId),
                Piece::Variable("order_id") => self.parts.push(Part::OrderId),
                Piece::Variable("address") => self.parts.push(Part::Address),
                Piece::Variable(name) => match self.variables.get(name) {
                    Some(value) => self.text(value),
                    None => return Err(unknown(name, self.variables)),
                },
            }
        }
        Ok(())
    }
}

fn push(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (_, Part::Text(text)) if text.is_empty() => {}
        (Some(Part::Text(last)), Part::Text(text)) => last.extend_from_slice(&text),
        (_, part) => parts.push(part),
    }
}

fn headers(
    head: &mut Parts<'_>,
    headers: &BTreeMap<String, String>,
    authority: &str,
) -> Result<(), UnknownVariable> {
    if !headers.keys().any(|name| name.eq_ignore_ascii_case("host")) {
        head.text(&format!("Host: {authority}\r\n"));
    }
    for (name, value) in headers {
        head.text(&format!("{name}: "));
        head.template(value)?;
        head.text("\r\n");
    }
    Ok(())
}

fn unknown(name: &str, variables: &Variables) -> UnknownVariable {
    let mut known: Vec<&str> = variables.keys().map(String::as_str).collect();
    known.extend(["user", "request_id", "order_id", "address"]);
    UnknownVariable {
        name: name.to_owned(),
        known: known.join(", "),
    }
}

fn append(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes every write");
}

/// The name of `population::user_id`, without a formatter: this runs for each request.
fn user(out: &mut Vec<u8>, mut user: u64) {
    let mut name = *b"u000000000000";
    for digit in name[1..].iter_mut().rev() {
        *digit += (user % 10) as u8;
        user /= 10;
    }
    out.extend_from_slice(&name);
}

/// The request id of `population::request_id`, likewise.
fn hex(out: &mut Vec<u8>, prefix: u32, key: u64) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let id = u128::from(prefix) << 64 | u128::from(key);
    let digits: [u8; REQUEST_ID_LEN] = std::array::from_fn(|at| {
        let shift = (REQUEST_ID_LEN - 1 - at) * 4;
        DIGITS[(id >> shift) as usize & 15]
    });
    out.extend_from_slice(&digits);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::population::{request_id, request_prefix, user_id};

    fn image(method: &str, path: &str, body: &str) -> Result<RequestImage, UnknownVariable> {
        let template = RequestTemplate {
            method: method.into(),
            path: path.into(),
            headers: [("Accept".to_owned(), "a/{sku}".to_owned())].into(),
            body: body.into(),
        };
        let variables = [("sku".to_owned(), "s1".to_owned())].into();
        RequestImage::new(&template, &variables, "127.0.0.1:80")
    }

    fn written(image: &RequestImage) -> String {
        let gaps = Gaps {
            user: 5,
            request_prefix: request_prefix(7),
            key: 0xbeef,
            order_id: "o-12",
            address: Ipv4Addr::new(10, 0, 20, 255),
        };
        let mut out = Vec::new();
        image.write(&gaps, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fills_the_gaps_and_counts_the_body() {
        let body = r#"{"sku":"{sku}","user":"{user}","request_id":"{request_id}"}"#;
        let text = written(&image("POST", "/buy", body).unwrap());
        let (head, sent) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!(
            sent,
            format!(
                r#"{{"sku":"s1","user":"{}","request_id":"{}"}}"#,
                user_id(5),
                request_id(7, 0xbeef)
            )
        );
        assert_eq!(
            head,
            format!(
                "POST /buy HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAccept: a/s1\r\nContent-Length: {}",
                sent.len()
            )
        );
    }

    #[test]
    fn counts_order_ids_of_any_length() {
        let text = written(&image("POST", "/{order_id}/pay", "{order_id},{order_id}").unwrap());
        assert!(text.starts_with("POST /o-12/pay HTTP/1.1\r\n"), "{text}");
        assert!(
            text.ends_with("Content-Length: 9\r\n\r\no-12,o-12"),
            "{text}"
        );
    }

    #[test]
    fn counts_addresses_of_any_length() {
        let text = written(&image("POST", "/", "{address} {address}").unwrap());
        assert!(
            text.ends_with("Content-Length: 23\r\n\r\n10.0.20.255 10.0.20.255"),
            "{text}"
        );
    }

    #[test]
    fn a_get_without_body_has_no_length_and_a_post_has() {
        assert!(!written(&image("GET", "/", "").unwrap()).contains("Content-Length"));
        assert!(written(&image("POST", "/", "").unwrap()).contains("Content-Length: 0\r\n"));
    }

    #[test]
    fn names_a_variable_that_nobody_defines() {
        let error = image("GET", "/{skuu}", "").unwrap_err();
        assert_eq!(error.name, "skuu");
        assert_eq!(error.known, "sku, user, request_id, order_id, address");
    }
}
