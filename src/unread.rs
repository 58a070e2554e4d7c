//! JSON text that is written when somebody wants to read it: where its value stands, and how it is written then.
//!
//! Between the two the bytes may have become others. So nothing is known of them but what is proved again: a value
//! is read from a place in them as from any untrusted bytes.

use crate::column::write_json;
use crate::datetime::DateRenderMode;
use crate::error::{Error, ErrorKind, Result};
use crate::reader::Reader;
use crate::spec::element_type;
use crate::text::{Text, Written};

/// A value whose column is JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadJson {
    /// Its type.
    pub element_type: u8,
    /// How dates in it are rendered.
    pub mode: DateRenderMode,
    /// Where in the source it begins.
    pub start: usize,
    /// Where in the source the terminator of the document around it stands.
    pub end: usize,
}

/// Whether a column of this type is JSON text.
#[inline(always)]
#[must_use]
pub const fn is_json(element_type: u8) -> bool {
    matches!(
        element_type,
        element_type::DOCUMENT
            | element_type::ARRAY
            | element_type::REGEX
            | element_type::DB_POINTER
            | element_type::CODE
            | element_type::CODE_WITH_SCOPE
    )
}

/// Values of a byte.
const BYTE: u64 = 1 << 8;
/// Numbers that a double can hold.
const EXACT: f64 = (1_u64 << 53) as f64;

impl UnreadJson {
    /// The value of this type that stands at `reader`, and the step over it.
    pub fn skip(reader: &mut Reader<'_>, element_type: u8, mode: DateRenderMode) -> Result<Self> {
        let start = reader.offset();
        reader.skip_value(element_type)?;
        Ok(Self { element_type, mode, start, end: reader.end() })
    }

    /// Two integers below 2^53, as an engine whose numbers are doubles keeps them: where it begins, and all else.
    /// Offsets are below 2^31, but for those of sources that are longer than a document can be.
    #[must_use]
    pub fn to_numbers(self) -> [f64; 2] {
        let rest = (self.end as u64 * BYTE + u64::from(self.element_type)) * BYTE + self.mode as u64;
        [self.start as f64, rest as f64]
    }

    /// What became of two such numbers; `None` where these are others.
    #[must_use]
    pub fn from_numbers(numbers: [f64; 2]) -> Option<Self> {
        let [start, rest] = numbers.map(|number| {
            ((0.0..EXACT).contains(&number) && number.trunc() == number).then_some(number as u64)
        });
        let (start, rest) = (start?, rest?);
        let mode = DateRenderMode::from_number((rest % BYTE) as i32)?;
        let element_type = (rest / BYTE % BYTE) as u8;
        Some(Self { element_type, mode, start: start as usize, end: (rest / BYTE / BYTE) as usize })
    }

    /// Writes the text. `bytes` are those of the source from the value's first to the terminator, inclusive.
    pub fn write<'t>(&self, bytes: &[u8], text: &'t mut Text) -> Result<Written<'t>> {
        let in_source = |Error { kind, offset }| kind.at(self.start + offset);
        let mut reader = Reader::within(bytes).ok_or_else(|| ErrorKind::DocumentTerminator.at(self.end))?;
        write_json(&mut reader, self.element_type, 0, self.mode, text).map_err(in_source)
    }
}

#[cfg(test)]
mod tests {
    use super::{UnreadJson, is_json};
    use crate::datetime::DateRenderMode;
    use crate::error::{Error, ErrorKind};
    use crate::reader::Reader;
    use crate::text::Text;
    use bson::{Bson, DateTime, JavaScriptCodeWithScope, Regex, doc, raw::cstr};

    fn unread(bytes: &[u8]) -> Vec<(String, UnreadJson)> {
        let mut reader = Reader::new(bytes).unwrap();
        let mut all = Vec::new();
        loop {
            let element_type = reader.read_type();
            if element_type == 0 {
                return all;
            }
            let name = String::from_utf8(reader.read_name().unwrap().bytes().to_vec()).unwrap();
            if is_json(element_type) {
                let mode = DateRenderMode::IsoSeconds;
                all.push((name, UnreadJson::skip(&mut reader, element_type, mode).unwrap()));
            } else {
                reader.skip_value(element_type).unwrap();
            }
        }
    }

    fn sample() -> Vec<u8> {
        doc! {
            "a": 1,
            "d": { "x": [1, DateTime::from_millis(0)], "y": { "z": "é" } },
            "e": [{ "f": 1.5 }],
            "r": Regex { pattern: cstr!("p").into(), options: cstr!("i").into() },
            "c": Bson::JavaScriptCode("f()".into()),
            "s": JavaScriptCodeWithScope { code: "g".into(), scope: doc! { "h": 2 } },
            "z": Bson::Null,
        }
        .to_vec()
        .unwrap()
    }

    #[test]
    fn the_text_is_that_of_the_value() {
        let bytes = sample();
        let texts = unread(&bytes).into_iter().map(|(name, json)| {
            let json = UnreadJson::from_numbers(json.to_numbers()).unwrap();
            let mut text = Text::default();
            let written = json.write(&bytes[json.start..=json.end], &mut text).unwrap();
            (name, String::from_utf8(written.bytes.to_vec()).unwrap())
        });
        let expected = [
            ("d", r#"{"x":[1,"1970-01-01T00:00:00Z"],"y":{"z":"é"}}"#),
            ("e", r#"[{"f":1.5}]"#),
            ("r", r#"{"pattern":"p","options":"i"}"#),
            ("c", r#"{"code":"f()","scope":null}"#),
            ("s", r#"{"code":"g","scope":{"h":2}}"#),
        ];
        assert_eq!(texts.collect::<Vec<_>>(), expected.map(|(name, text)| (name.into(), text.into())));
    }

    #[test]
    fn whatever_the_bytes_have_become_reading_ends_in_bounds() {
        let bytes = sample();
        for (_, json) in unread(&bytes) {
            for at in (json.start..=json.end).step_by(if cfg!(miri) { 5 } else { 1 }) {
                for byte in if cfg!(miri) { vec![0, 0xff] } else { (0..=u8::MAX).collect() } {
                    let mut changed = bytes[json.start..=json.end].to_vec();
                    changed[at - json.start] = byte;
                    match json.write(&changed, &mut Text::default()) {
                        Ok(written) => assert!(written.bytes.len() > 1),
                        Err(Error { offset, .. }) => assert!((json.start..=json.end).contains(&offset)),
                    }
                }
            }
        }
    }

    #[test]
    fn errors_name_the_byte_of_the_whole_source() {
        let mut bytes = sample();
        let (_, json) = unread(&bytes).swap_remove(0);
        let at = bytes.windows(2).position(|window| window == *b"z\0").unwrap() - 1;
        bytes[at] = 0x99;
        let error = |bytes: &[u8]| json.write(bytes, &mut Text::default()).map(drop).unwrap_err();
        let part = &mut bytes[json.start..=json.end];
        assert_eq!(error(part), ErrorKind::NestedType(0x99).at(at));
        part[0] = 0xff;
        assert_eq!(error(part), ErrorKind::DocumentLength.at(json.start));
        *part.last_mut().unwrap() = 1;
        assert_eq!(error(part), ErrorKind::DocumentTerminator.at(json.end));
        assert_eq!(error(&[]), ErrorKind::DocumentTerminator.at(json.end));
    }

    #[test]
    fn numbers_that_are_others_are_no_value() {
        let mode = DateRenderMode::LegacyMilliseconds;
        let json =
            UnreadJson { element_type: 0x03, mode, start: i32::MAX as usize - 5, end: i32::MAX as usize };
        let [start, rest] = json.to_numbers();
        assert_eq!(UnreadJson::from_numbers([start, rest]), Some(json));
        for numbers in
            [[-1.0, rest], [0.5, rest], [f64::NAN, rest], [start, 2_f64.powi(53)], [start, rest + 3.0]]
        {
            assert_eq!(UnreadJson::from_numbers(numbers), None, "{numbers:?}");
        }
    }
}
