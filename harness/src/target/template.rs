//! `{name}` templates of target files.

use std::collections::BTreeMap;

/// A variable that a template names and nobody defines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{{{name}}}` is not known here; known: {known}")]
pub struct UnknownVariable {
    pub name: String,
    pub known: String,
}

/// Values of the `{name}` variables.
pub type Variables = BTreeMap<String, String>;

/// A piece of a parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Splits a template into literal text and variables. `{{` and `}}` stand for one brace; a `{`
/// that no name and `}` follow is literal text, so that JSON bodies need no escaping.
pub fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (text, tail) = rest.split_at(at);
        if !text.is_empty() {
            out.push(Piece::Text(text));
        }
        let (piece, used) = brace(tail);
        out.push(piece);
        rest = &tail[used..];
    }
    if !rest.is_empty() {
        out.push(Piece::Text(rest));
    }
    out
}

/// The piece at the start of `tail`, which begins with a brace, and its length in bytes.
fn brace(tail: &str) -> (Piece<'_>, usize) {
    if tail.starts_with("{{") || tail.starts_with("}}") {
        return (Piece::Text(&tail[..1]), 2);
    }
    match tail
        .strip_prefix('{')
        .and_then(|inner| inner.split_once('}'))
    {
        Some((name, _)) if is_name(name) => (Piece::Variable(name), name.len() + 2),
        _ => (Piece::Text(&tail[..1]), 1),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// Fills a template.
///
/// # Errors
/// The first variable that `variables` lacks.
pub fn fill(template: &str, variables: &Variables) -> Result<String, UnknownVariable> {
    let mut out = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Variable(name) => match variables.get(name) {
                Some(value) => out.push_str(value),
                None => return Err(unknown(name, variables)),
            },
        }
    }
    Ok(out)
}

fn unknown(name: &str, variables: &Variables) -> UnknownVariable {
    let known: Vec<_> = variables.keys().map(String::as_str).collect();
    UnknownVariable {
        name: name.to_owned(),
        known: known.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars() -> Variables {
        [
            ("sku".to_owned(), "s1".to_owned()),
            ("user".to_owned(), "u7".to_owned()),
        ]
        .into()
    }

    #[test]
    fn fills_variables_and_leaves_json_alone() {
        let cases = [
            ("", ""),
            ("/v1/{sku}", "/v1/s1"),
            (
                r#"{"sku":"{sku}","user":"{user}"}"#,
                r#"{"sku":"s1","user":"u7"}"#,
            ),
            ("fs:{{{sku}}}:stock", "fs:{s1}:stock"),
            ("{}", "{}"),
            ("{ sku }", "{ sku }"),
            ("}", "}"),
        ];
        for (template, expected) in cases {
            assert_eq!(
                fill(template, &vars()).as_deref(),
                Ok(expected),
                "{template}"
            );
        }
    }

    #[test]
    fn names_the_unknown_variable_and_the_known_ones() {
        let error = fill("{skuu}", &vars()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`{skuu}` is not known here; known: sku, user"
        );
    }
}
