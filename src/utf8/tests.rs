//! Every kernel against the standard library: random texts with faults planted, all short lengths and
//! alignments, every kind of sequence at every place of a block.

use super::*;
use crate::scan::tests::XorShift;

type IsValid = Box<dyn Fn(&[u8]) -> bool>;
type Transcoder<Unit> = Box<dyn Fn(&[u8], *mut Unit) -> Progress>;

/// A set of kernels, called as the safe functions call them.
struct Kernels {
    name: String,
    is_valid: IsValid,
    latin1: Transcoder<u8>,
    utf16: Transcoder<u16>,
}

/// The kernels of every level of this processor, and the plain ones.
fn kernels() -> Vec<Kernels> {
    let mut all = vec![Kernels {
        name: "plain".into(),
        is_valid: Box::new(decode::is_valid),
        // SAFETY: `check` gives the space that the contract asks for.
        latin1: Box::new(|bytes, dst| unsafe { decode::latin1(bytes, dst) }),
        // SAFETY: `check` gives the space that the contract asks for.
        utf16: Box::new(|bytes, dst| unsafe { decode::utf16(bytes, dst) }),
    }];
    #[cfg(target_arch = "x86_64")]
    all.extend(crate::scan::cpu::levels().map(|level| Kernels {
        name: format!("{level:?}"),
        // SAFETY: `levels` found the level.
        is_valid: Box::new(move |bytes| unsafe { kernel::is_valid_at(level, bytes) }),
        // SAFETY: `levels` found the level; `check` gives the space that the contract asks for.
        latin1: Box::new(move |bytes, dst| unsafe { kernel::latin1_at(level, bytes, dst) }),
        // SAFETY: `levels` found the level; `check` gives the space that the contract asks for.
        utf16: Box::new(move |bytes, dst| unsafe { kernel::utf16_at(level, bytes, dst) }),
    }));
    #[cfg(not(target_arch = "x86_64"))]
    all.push(Kernels {
        name: "chosen".into(),
        is_valid: Box::new(kernel::is_valid),
        // SAFETY: `check` gives the space that the contract asks for.
        latin1: Box::new(|bytes, dst| unsafe { kernel::latin1(bytes, dst) }),
        // SAFETY: `check` gives the space that the contract asks for.
        utf16: Box::new(|bytes, dst| unsafe { kernel::utf16(bytes, dst) }),
    });
    all
}

/// The kernels and the public functions on `bytes`, against the standard library. Fails where a kernel stops
/// more than a block before the first fault.
fn check(kernels: &[Kernels], bytes: &[u8]) {
    let lossy = String::from_utf8_lossy(bytes);
    let units: Vec<u16> = lossy.encode_utf16().collect();
    let valid = core::str::from_utf8(bytes).is_ok();
    let latin1: Option<Vec<u8>> =
        valid.then(|| lossy.chars().map(|c| u8::try_from(c).ok()).collect()).flatten();
    for Kernels { name, is_valid, latin1: to_latin1, utf16: to_utf16 } in kernels {
        assert_eq!(is_valid(bytes), valid, "validity, {name}: {bytes:x?}");

        // What the kernel takes is right, ends with a character, and all of it where it is well-formed.
        let mut out = vec![0xa5a5; bytes.len() + BLOCK + 8];
        let Progress { read, written } = to_utf16(bytes, out.as_mut_ptr());
        assert!(written <= read && read <= bytes.len());
        let want: Vec<u16> = String::from_utf8_lossy(&bytes[..read]).encode_utf16().collect();
        assert_eq!(out[..written], want, "UTF-16, {name}: {bytes:x?}");
        assert_eq!(units[..written], want, "UTF-16, {name}, stopped within a character: {bytes:x?}");
        assert!(out[bytes.len() + BLOCK..].iter().all(|&unit| unit == 0xa5a5), "{name} wrote past its space");
        assert!(!valid || read == bytes.len(), "UTF-16, {name}, left well-formed bytes: {bytes:x?}");
        let first_fault = core::str::from_utf8(bytes).map_or_else(|fault| fault.valid_up_to(), str::len);
        assert!(read + BLOCK + 4 > first_fault, "UTF-16, {name}, left too much");

        let mut out = vec![0xa5; bytes.len() + BLOCK + 8];
        let Progress { read, written } = to_latin1(bytes, out.as_mut_ptr());
        assert!(written <= read && read <= bytes.len());
        let taken = core::str::from_utf8(&bytes[..read]).expect("Latin-1 stops at what is ill-formed");
        assert!(taken.chars().map(u32::from).eq(out[..written].iter().map(|&byte| u32::from(byte))));
        assert!(out[bytes.len() + BLOCK..].iter().all(|&byte| byte == 0xa5), "{name} wrote past its space");
        assert_eq!(read == bytes.len(), latin1.is_some(), "Latin-1, {name}: {bytes:x?}");
    }

    assert_eq!(is_valid(bytes), valid);
    let mut replaced = b"kept".to_vec();
    push_lossy(bytes, &mut replaced);
    assert_eq!(replaced, ["kept", &lossy].concat().as_bytes());
    let mut wide = vec![2; 3];
    to_utf16(bytes, &mut wide);
    assert_eq!(wide, units, "{bytes:x?}");
    let want = match &latin1 {
        Some(_) if bytes.is_ascii() => Encoded::Ascii,
        Some(latin1) => Encoded::Latin1(latin1),
        None => Encoded::Utf16(&units),
    };
    assert_eq!(transcode(bytes, &mut Scratch::new()), want, "{bytes:x?}");
}

/// A byte from each class of table 3-7 of the Unicode standard, and the bounds of each.
const BYTES: [u8; 29] = [
    0x00, 0x41, 0x7f, //
    0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, //
    0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xdf, //
    0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, //
    0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff,
];

#[test]
fn every_kind_of_sequence_around_the_ends_of_blocks() {
    let kernels = kernels();
    // Unoptimised and under Miri a sample of the same.
    let step = if cfg!(miri) {
        20_011
    } else if cfg!(debug_assertions) {
        23
    } else {
        1
    };
    let sequences = BYTES.len().pow(3) * 3;
    let prefixes = ["".len(), 13, 15, 29, 61, 62, 63];
    for number in (0..sequences * prefixes.len()).step_by(step) {
        let (sequence, prefix) = (number % sequences, prefixes[number / sequences]);
        let at = |power: u32| BYTES[sequence / 3 / BYTES.len().pow(power) % BYTES.len()];
        let mut bytes = vec![b'x'; prefix];
        bytes.extend([at(0), at(1), at(2)]);
        bytes.extend([0x80, 0xbf, 0x41].get(sequence % 3));
        check(&kernels, &bytes.clone().into_boxed_slice());
        bytes.extend("and 50 more, so that whole blocks come before and after".bytes());
        check(&kernels, &bytes);
    }
}

/// Texts of one kind, then of several, then with faults.
fn random_text(random: &mut XorShift, len: usize) -> Vec<u8> {
    const PIECES: [&[&[u8]]; 6] = [
        &[
            b"a",
            b" the",
            b"0123456789",
            b"\x00",
            b"sixty-four bytes of ASCII text, just what fills one block of it.",
        ],
        &[b"\xc3\xa9", b"\xc2\xa0", b"\xc3\xbf", b"\xc2\x80", b"e\xc3\xa8"],
        &[b"\xd0\x9f\xd1\x80\xd0\xb8", b"\xc4\x80", b"\xdf\xbf"],
        &[
            b"\xe4\xb8\xad\xe6\x96\x87",
            b"\xe0\xa0\x80",
            b"\xef\xbf\xbd",
            b"\xef\xbb\xbf",
            b"\xed\x9f\xbf",
            b"\xee\x80\x80",
        ],
        &[b"\xf0\x9f\x98\x80", b"\xf0\x90\x80\x80", b"\xf4\x8f\xbf\xbf", b"\xf1\x80\x80\x80"],
        &[
            b"\x80",
            b"\xff",
            b"\xc0\x80",
            b"\xe0\x9f\xbf",
            b"\xed\xa0\xbd\xed\xb8\x9a",
            b"\xf4\x90\x80\x80",
            b"\xf0\x8f\xbf\xbf",
            b"\xe4\xb8",
            b"\xf0\x9f\x98",
            b"\xc3",
            b"\xf8\x90\x80\x80",
        ],
    ];
    let kinds = random.next() as usize;
    let mut text = Vec::new();
    while text.len() < len {
        let kind = random.below(32);
        // Faults are rare where there are any; other kinds come by the bits of `kinds`.
        let kind = if kind == 0 && kinds & 32 != 0 { 5 } else { kind % 5 };
        if kind == 5 || kinds >> kind & 1 == 1 || kinds & 31 == 0 {
            let pieces = PIECES[kind];
            text.extend_from_slice(pieces[random.below(pieces.len())]);
        }
    }
    text.truncate(len);
    text
}

#[test]
fn random_texts_of_every_length_and_alignment() {
    let kernels = kernels();
    let mut random = XorShift::new(0xb50);
    let rounds = if cfg!(miri) {
        0..6
    } else if cfg!(debug_assertions) {
        0..300
    } else {
        0..3000
    };
    for round in rounds {
        let offset = round % 64;
        let len = if cfg!(miri) { 40 * round } else { round % 201 + if round % 7 == 0 { 500 } else { 0 } };
        // An allocation that ends where the text ends: Miri and sanitizers see a read beyond it.
        let text = random_text(&mut random, offset + len).into_boxed_slice();
        check(&kernels, &text[offset..]);
    }
}

#[test]
fn a_character_is_cut_off_before_a_long_run_of_ascii() {
    let kernels = kernels();
    for start in [&b"\xc3"[..], b"\xe4\xb8", b"\xf0\x9f\x98"] {
        for end in [16, 32, 64, 128, 256] {
            let mut bytes = vec![b'x'; end - start.len()];
            bytes.extend_from_slice(start);
            check(&kernels, &bytes);
            bytes.resize(3 * end, b'x');
            check(&kernels, &bytes);
        }
    }
}

#[test]
fn every_character_stands_for_itself() {
    let kernels = kernels();
    let step = if cfg!(miri) { 9973 } else { 1 };
    let mut characters = ('\0'..=char::MAX).step_by(step);
    // All of them a thousand at a time; with one byte before so that they do not fall on the same places.
    loop {
        let text: String = ["-"]
            .into_iter()
            .map(String::from)
            .chain(characters.by_ref().take(1000).map(String::from))
            .collect();
        if text.len() == 1 {
            break;
        }
        check(&kernels, text.as_bytes());
    }
}

#[test]
fn a_text_turns_from_ascii_to_latin1_to_utf16() {
    let mut scratch = Scratch::new();
    let ascii = "x".repeat(300);
    assert_eq!(transcode(ascii.as_bytes(), &mut scratch), Encoded::Ascii);
    let latin1 = ascii.clone() + "\u{e9}\u{ff}";
    let want: Vec<u8> = latin1.chars().map(|character| character as u8).collect();
    assert_eq!(transcode(latin1.as_bytes(), &mut scratch), Encoded::Latin1(&want));
    let utf16 = latin1 + &"\u{e9}".repeat(90) + "\u{100}";
    let want: Vec<u16> = utf16.encode_utf16().collect();
    assert_eq!(transcode(utf16.as_bytes(), &mut scratch), Encoded::Utf16(&want));
    assert_eq!(transcode(b"", &mut scratch), Encoded::Ascii);
}

#[test]
#[cfg_attr(miri, ignore = "a question of capacity, and minutes long")]
fn a_large_text_leaves_no_large_scratch() {
    let mut scratch = Scratch::new();
    let large = "\u{44f}".repeat(SCRATCH_BOUND);
    let length = match transcode(large.as_bytes(), &mut scratch) {
        Encoded::Utf16(units) => units.len(),
        other => panic!("not UTF-16: {other:?}"),
    };
    assert_eq!(length, SCRATCH_BOUND);
    scratch.shrink();
    assert!(scratch.latin1.capacity() <= SCRATCH_BOUND && 2 * scratch.utf16.capacity() <= SCRATCH_BOUND);
    transcode("\u{44f}".as_bytes(), &mut scratch);
    let kept = scratch.utf16.capacity();
    scratch.shrink();
    assert_eq!(scratch.utf16.capacity(), kept, "a small buffer stays");
}
