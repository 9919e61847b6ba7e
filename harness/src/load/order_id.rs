//! The order id in a JSON answer, found without parsing the rest of it.

use memchr::memmem::Finder;

/// A JSON field with a string value, by name.
#[derive(Debug)]
pub struct OrderIdField {
    /// The name in its quotes.
    quoted: Finder<'static>,
}

impl OrderIdField {
    pub fn new(name: &str) -> Self {
        let quoted = format!("\"{name}\"");
        Self {
            quoted: Finder::new(quoted.as_bytes()).into_owned(),
        }
    }

    /// The first non-empty string value of the field, wherever in the document it stands. A value with
    /// escapes is none: no id needs them, and the text would not be what other answers show.
    pub fn find<'b>(&self, body: &'b [u8]) -> Option<&'b str> {
        let mut rest = body;
        while let Some(at) = self.quoted.find(rest) {
            rest = &rest[at + self.quoted.needle().len()..];
            if let Some(value) = string_value(rest) {
                return Some(value);
            }
        }
        None
    }
}

/// The string behind a colon at the start of `text`.
fn string_value(text: &[u8]) -> Option<&str> {
    let value = text
        .trim_ascii_start()
        .strip_prefix(b":")?
        .trim_ascii_start()
        .strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', value)?;
    let whole = value[end] == b'"' && end > 0;
    whole.then(|| std::str::from_utf8(&value[..end]).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_value_of_the_field_only() {
        let cases = [
            (r#"{"order_id":"o1","state":"queued"}"#, Some("o1")),
            (
                "{ \"state\" : \"x\" ,\n \"order_id\" : \"o 2\" }",
                Some("o 2"),
            ),
            (r#"{"field":"order_id","order_id":"o3"}"#, Some("o3")),
            (r#"{"order_id":null,"order":{"order_id":"o4"}}"#, Some("o4")),
            (r#"{"my_order_id":"o5"}"#, None),
            (r#"{"order_id":7}"#, None),
            (r#"{"order_id":""}"#, None),
            (r#"{"order_id":"a\"b"}"#, None),
            (r#"{"order_id":"cut"#, None),
            ("", None),
        ];
        for (body, expected) in cases {
            let field = OrderIdField::new("order_id");
            assert_eq!(field.find(body.as_bytes()), expected, "{body}");
        }
    }
}
