// SPDX-License-Identifier: Apache-2.0
use super::{Fault, Reader};

#[test]
fn a_text_ends_with_the_first_quote_that_is_not_escaped() {
    for (text, inner) in [
        (r#""" "#, ""),
        (r#""short""#, "short"),
        (r#""exactly8" and what stands behind it"#, "exactly8"),
        (
            r#""a \"quote\" inside" and more of it"#,
            r#"a \"quote\" inside"#,
        ),
        (
            r#""ends with a backslash \\","next""#,
            r"ends with a backslash \\",
        ),
        (r#""\\\"","next":"value""#, r#"\\\""#),
    ] {
        let mut reader = Reader::new(text.as_bytes());
        assert_eq!(reader.string(), Ok(inner.as_bytes()), "{text}");
        assert_eq!(reader.position(), inner.len() + 2, "{text}");
    }
    for text in [r#"""#, r#""no end"#, r#""escaped to the end\""#, r#""\"#] {
        assert_eq!(
            Reader::new(text.as_bytes()).string(),
            Err(Fault::End),
            "{text}"
        );
    }
}

#[test]
fn a_value_is_passed_over_whatever_stands_in_it() {
    for value in [
        "-1.5e+3",
        "null",
        r#""a \" b""#,
        r#"[{"]": "}"}, [], {"a": ["\\"]}]"#,
    ] {
        let text = format!(" \n{value}, 1");
        let mut reader = Reader::new(text.as_bytes());
        assert_eq!(reader.skip(), Ok(2), "{value}");
        assert_eq!(reader.position(), 2 + value.len(), "{value}");
    }
}
