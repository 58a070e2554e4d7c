//! A plain reader of MessagePack for tests: it keeps apart what formats tell, and accepts nothing longer than need be.

/// A value, as its format tells it.
#[derive(Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Decoded {
    Nil,
    Bool(bool),
    /// An integer of at most 32 bits.
    Number(i64),
    Int64(i64),
    Uint64(u64),
    /// A double, by its bits.
    Float64(u64),
    Str(String),
    Bin(Vec<u8>),
    Array(Vec<Decoded>),
    Map(Vec<(String, Decoded)>),
    Ext(i8, Vec<u8>),
}

/// As a failing test prints it.
impl std::fmt::Debug for Decoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nil => f.write_str("nil"),
            Self::Bool(boolean) => write!(f, "{boolean}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Int64(number) => write!(f, "{number}i64"),
            Self::Uint64(number) => write!(f, "{number}u64"),
            Self::Float64(bits) => write!(f, "{:?}f64", f64::from_bits(*bits)),
            Self::Str(text) => write!(f, "{text:?}"),
            Self::Bin(bytes) => write!(f, "bin{bytes:02x?}"),
            Self::Array(values) => f.debug_list().entries(values).finish(),
            Self::Map(entries) => {
                f.debug_map().entries(entries.iter().map(|(name, value)| (name, value))).finish()
            }
            Self::Ext(ext_type, bytes) => write!(f, "ext {ext_type}{bytes:02x?}"),
        }
    }
}

/// The one value that `message` is.
///
/// # Panics
/// Where it is not exactly one, or is not in its shortest format.
#[must_use]
pub fn decode(message: &[u8]) -> Decoded {
    let mut rest = message;
    let value = read(&mut rest);
    assert!(rest.is_empty(), "bytes behind the value");
    value
}

fn take<'m>(rest: &mut &'m [u8], len: usize) -> &'m [u8] {
    let (taken, after) = rest.split_at(len);
    *rest = after;
    taken
}

/// An unsigned integer of `width` bytes.
fn unsigned(rest: &mut &[u8], width: usize) -> u64 {
    take(rest, width).iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// A length of `1 << log` bytes, which the formats below have no room for.
fn length(rest: &mut &[u8], log: u8, longest_below: u64) -> usize {
    let len = unsigned(rest, 1 << log);
    assert!(len > longest_below, "a shorter format has room for {len}");
    len as usize
}

fn read(rest: &mut &[u8]) -> Decoded {
    let marker = take(rest, 1)[0];
    match marker {
        0x00..=0x7f => Decoded::Number(marker.into()),
        0x80..=0x8f => map(rest, (marker & 0xf).into()),
        0x90..=0x9f => array(rest, (marker & 0xf).into()),
        0xa0..=0xbf => text(rest, (marker & 0x1f).into()),
        0xc0 => Decoded::Nil,
        0xc2 | 0xc3 => Decoded::Bool(marker == 0xc3),
        0xc4..=0xc6 => {
            let len = length_of_bin(rest, marker);
            Decoded::Bin(take(rest, len).to_vec())
        }
        0xc7..=0xc9 => {
            let len = match marker {
                0xc7 => unsigned(rest, 1) as usize,
                _ => length(rest, marker - 0xc7, if marker == 0xc8 { 0xff } else { 0xffff }),
            };
            assert!(![1, 2, 4, 8, 16].contains(&len), "there is a format of {len} bytes");
            ext(rest, len)
        }
        0xcb => Decoded::Float64(unsigned(rest, 8)),
        0xcc..=0xce => {
            let longest_below = [0x7f, 0xff, 0xffff][usize::from(marker - 0xcc)];
            Decoded::Number(length(rest, marker - 0xcc, longest_below) as i64)
        }
        0xcf => Decoded::Uint64(unsigned(rest, 8)),
        0xd0..=0xd2 => {
            let width = 1 << (marker - 0xd0);
            let number = (unsigned(rest, width) as i64) << (64 - 8 * width) >> (64 - 8 * width);
            let lowest_below = [-0x20, -0x80, -0x8000][usize::from(marker - 0xd0)];
            assert!(number < lowest_below, "a shorter format has room for {number}");
            Decoded::Number(number)
        }
        0xd3 => Decoded::Int64(unsigned(rest, 8) as i64),
        0xd4..=0xd8 => ext(rest, 1 << (marker - 0xd4)),
        0xd9..=0xdb => {
            let len = length(rest, marker - 0xd9, [0x1f, 0xff, 0xffff][usize::from(marker - 0xd9)]);
            text(rest, len)
        }
        0xdc => {
            let len = length(rest, 1, 0xf);
            array(rest, len)
        }
        // The length of a table is written later, in the longest format.
        0xdd => {
            let len = unsigned(rest, 4) as usize;
            array(rest, len)
        }
        0xde | 0xdf => {
            let len = length(rest, marker - 0xdd, if marker == 0xde { 0xf } else { 0xffff });
            map(rest, len)
        }
        0xc1 | 0xca => panic!("marker {marker:x}, which is never written"),
        0xe0..=0xff => Decoded::Number((marker as i8).into()),
    }
}

fn length_of_bin(rest: &mut &[u8], marker: u8) -> usize {
    match marker {
        0xc4 => unsigned(rest, 1) as usize,
        _ => length(rest, marker - 0xc4, if marker == 0xc5 { 0xff } else { 0xffff }),
    }
}

fn text(rest: &mut &[u8], len: usize) -> Decoded {
    Decoded::Str(String::from_utf8(take(rest, len).to_vec()).expect("well-formed UTF-8"))
}

fn ext(rest: &mut &[u8], len: usize) -> Decoded {
    let ext_type = take(rest, 1)[0] as i8;
    Decoded::Ext(ext_type, take(rest, len).to_vec())
}

fn array(rest: &mut &[u8], len: usize) -> Decoded {
    Decoded::Array((0..len).map(|_| read(rest)).collect())
}

fn map(rest: &mut &[u8], len: usize) -> Decoded {
    let mut entries = Vec::<(String, Decoded)>::new();
    for _ in 0..len {
        let Decoded::Str(name) = read(rest) else { panic!("a name that is no text") };
        let value = read(rest);
        entries.push((name, value));
    }
    let mut names: Vec<_> = entries.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name twice in a map");
    Decoded::Map(entries)
}
