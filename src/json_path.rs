//! Paths into JSON, as SQLite's operators `->` and `->>` take them (<https://sqlite.org/json1.html#jptr>).
//!
//! A path is `$` and steps: `.label`, `."quoted label"`, `[0]` or, from the end of an array, `[#-1]`. What does not
//! begin with `$` is one step: `[0]` as it stands, and anything else a label.

/// A path.
#[derive(Debug, PartialEq, Eq)]
pub struct JsonPath {
    /// From the outermost on.
    pub steps: Vec<Step>,
}

/// One step of a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of a label in an object. `None` where a label has an escape that stands for nothing: it is no
    /// object's.
    Label(Option<String>),
    /// To an element of an array, counted from 0.
    Index(u64),
    /// To an element of an array, counted from behind its last: 1 is the last one.
    FromEnd(u64),
}

impl JsonPath {
    /// The path that a text is; `None` where it is malformed.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        if let Some(rest) = text.strip_prefix('$') {
            let mut rest = rest;
            while !rest.is_empty() {
                let (step, behind) = read_step(rest)?;
                steps.push(step);
                rest = behind;
            }
        } else if text.len() >= "[0]".len() && text.starts_with('[') && text.ends_with(']') {
            return Self::parse(&format!("${text}"));
        } else if !text.is_empty() {
            // What ends the quotes, or escapes in them, means what it means there.
            return Self::parse(&format!("$.\"{text}\""));
        } else {
            return None;
        }
        Some(Self { steps })
    }
}

/// The step that a text begins with, and what is behind it.
fn read_step(text: &str) -> Option<(Step, &str)> {
    if let Some(quoted) = text.strip_prefix(".\"") {
        let end = end_of_quoted(quoted)?;
        return Some((Step::Label(unescape(&quoted[..end])), &quoted[end + 1..]));
    }
    if let Some(label) = text.strip_prefix('.') {
        let end = label.find(['.', '[']).unwrap_or(label.len());
        return (end > 0).then(|| (Step::Label(Some(label[..end].to_owned())), &label[end..]));
    }
    let (position, behind) = text.strip_prefix('[')?.split_once(']')?;
    let step = match position.strip_prefix('#') {
        None => Step::Index(read_digits(position)?),
        Some("") => Step::FromEnd(0),
        Some(back) => Step::FromEnd(read_digits(back.strip_prefix('-')?)?),
    };
    Some((step, behind))
}

/// The place of the quote that ends a quoted label: the first one that no backslash escapes.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

/// A number of any number of digits: no array has more elements than the largest.
fn read_digits(digits: &str) -> Option<u64> {
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// A label without its escapes: those of JSON, and those that JSON5 has besides.
fn unescape(label: &str) -> Option<String> {
    let mut plain = String::with_capacity(label.len());
    let mut rest = label;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let mut escape = rest[at + 1..].chars();
        match escape.next()? {
            character @ ('"' | '\\' | '/' | '\'') => plain.push(character),
            'b' => plain.push('\u{8}'),
            'f' => plain.push('\u{c}'),
            'n' => plain.push('\n'),
            'r' => plain.push('\r'),
            't' => plain.push('\t'),
            'v' => plain.push('\u{b}'),
            '0' if !escape.as_str().starts_with(|next: char| next.is_ascii_digit()) => plain.push('\0'),
            'x' => plain.push(char::from_u32(u32::from(read_hex(&mut escape, 2)?))?),
            'u' => plain.push(read_character(&mut escape)?),
            // A line that goes on.
            '\r' => {
                let behind = escape.as_str();
                escape = behind.strip_prefix('\n').unwrap_or(behind).chars();
            }
            '\n' | '\u{2028}' | '\u{2029}' => {}
            _ => return None,
        }
        rest = escape.as_str();
    }
    plain.push_str(rest);
    Some(plain)
}

fn read_hex(text: &mut std::str::Chars<'_>, count: usize) -> Option<u16> {
    let digits = text.as_str().get(..count)?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    *text = text.as_str()[count..].chars();
    if are_digits { u16::from_str_radix(digits, 16).ok() } else { None }
}

/// The character of `\uXXXX`, or of two that are a pair of surrogates.
fn read_character(text: &mut std::str::Chars<'_>) -> Option<char> {
    let first = read_hex(text, 4)?;
    if !(0xd800..0xe000).contains(&first) {
        return char::from_u32(first.into());
    }
    *text = text.as_str().strip_prefix("\\u")?.chars();
    char::decode_utf16([first, read_hex(text, 4)?]).next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::{JsonPath, Step};

    fn label(text: &str) -> Step {
        Step::Label(Some(text.to_owned()))
    }

    #[track_caller]
    fn expect(text: &str, steps: &[Step]) {
        assert_eq!(JsonPath::parse(text).expect(text).steps, steps, "{text}");
    }

    #[test]
    fn steps() {
        expect("$", &[]);
        expect("$.a", &[label("a")]);
        expect("$.a.b[0]", &[label("a"), label("b"), Step::Index(0)]);
        expect(
            "$[12][#-1][#][#-0]",
            &[Step::Index(12), Step::FromEnd(1), Step::FromEnd(0), Step::FromEnd(0)],
        );
        expect("$[007]", &[Step::Index(7)]);
        expect("$[99999999999999999999]", &[Step::Index(u64::MAX)]);
        expect("$.a b$\"]é.0", &[label("a b$\"]é"), label("0")]);
        expect(r#"$."a.b[0]".c"#, &[label("a.b[0]"), label("c")]);
        expect(r#"$."""#, &[label("")]);
        expect(r"$.a\n", &[label(r"a\n")]);
    }

    #[test]
    fn without_a_dollar_it_is_one_step() {
        for text in ["a", "a.b", "a[0]", "1", "é", " $", "[0", "[]", "x y", "#"] {
            expect(text, &[label(text)]);
        }
        expect("[3]", &[Step::Index(3)]);
        expect("[0].a[1]", &[Step::Index(0), label("a"), Step::Index(1)]);
        expect(r"a\tb", &[label("a\tb")]);
        expect(r#"a".b""c"#, &[label("a"), Step::Label(Some(r#"b""c""#.to_owned()))]);
    }

    #[test]
    fn escapes() {
        let pairs = [
            (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r"\u0041\u00e9\u00E9\u2028", "Aéé\u{2028}"),
            (r"\ud83d\ude00", "😀"),
            (r"\v\'\x41\0", "\u{b}'A\0"),
            ("a\\\nb\\\r\nc\\\rd\\\u{2028}e", "abcde"),
            ("é\\n漢", "é\n漢"),
        ];
        for (escaped, plain) in pairs {
            expect(&format!("$.\"{escaped}\""), &[label(plain)]);
        }
        for escaped in [
            r"\a", r"\01", r"\u004", r"\u", r"\x4", r"\X41", r"\ud83d", r"\ud83dx", r"\ude00", r"\u00é1",
            r"\u+041",
        ] {
            expect(&format!("$.\"{escaped}\""), &[Step::Label(None)]);
        }
    }

    #[test]
    fn malformed_ones() {
        for text in [
            "",
            "$.",
            "$..a",
            "$a",
            "$ ",
            "$#",
            "$.a.",
            "$[",
            "$[]",
            "$[a]",
            "$[-1]",
            "$[ 0]",
            "$[+1]",
            "$[0",
            "$[0]x",
            "$[#1]",
            "$[#-]",
            "$[#-a]",
            "$[#--1]",
            "$[1]]",
            "$.a[",
            "$.\"",
            "$.\"a",
            "$.\"a\"b",
            "$.\"a\\\"",
            "$.\"\\",
            "[a]",
            "[ ]",
            "\"a\"",
            "a\"b",
            "a\\",
        ] {
            assert_eq!(JsonPath::parse(text), None, "{text}");
        }
    }
}
