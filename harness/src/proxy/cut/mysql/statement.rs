//! The first keyword of a statement.

/// No keyword that begins a statement is longer.
const KEYWORD_BYTES_MAX: usize = 32;

/// Empty when the statement begins in no known way. With query attributes, their number comes before the text.
pub(super) fn keyword(text: &[u8], has_query_attributes: bool) -> &[u8] {
    let text = match text {
        // None, in one set.
        [0, 1, text @ ..] if has_query_attributes => text,
        _ if has_query_attributes => return b"",
        _ => text,
    };
    let text = without_comments(text);
    let end = text.iter().position(|byte| !byte.is_ascii_alphabetic());
    let end = end.unwrap_or(text.len());
    if end > KEYWORD_BYTES_MAX {
        return b"";
    }
    &text[..end]
}

fn without_comments(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        let Some(comment) = text.strip_prefix(b"/*") else {
            return text;
        };
        let Some(end) = comment.windows(2).position(|two| two == b"*/") else {
            return b"";
        };
        text = &comment[end + 2..];
    }
}

#[cfg(test)]
mod tests {
    use super::keyword;

    #[test]
    fn finds_the_first_keyword() {
        let cases: [(&[u8], bool, &[u8]); 7] = [
            (b"COMMIT", false, b"COMMIT"),
            (b"\n commit;", false, b"commit"),
            (b"/* a */ /* b */INSERT INTO t", false, b"INSERT"),
            (b"/* unfinished", false, b""),
            (b"\0\x01COMMIT", true, b"COMMIT"),
            (b"\x02\x01...COMMIT", true, b""),
            (b"", false, b""),
        ];
        for (text, has_query_attributes, expected) in cases {
            assert_eq!(keyword(text, has_query_attributes), expected);
        }
    }
}
