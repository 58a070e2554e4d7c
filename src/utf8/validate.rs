//! Validity by table look-up, after Keiser and Lemire, "Validating UTF-8 in less than one instruction per
//! byte" (2021).
//!
//! Equals `core::str::from_utf8(bytes).is_ok()`. Whether two adjacent bytes can stand in well-formed UTF-8
//! shows in three of their halves: the high and the low half of the first byte and the high half of the
//! second. Each of eight faults has one bit; a table for each of the three halves tells which faults that
//! half allows, and a fault is there where all three tables say so. The one thing that pairs do not show is
//! whether a third or fourth byte is due; it is compared with the bit that says "two continuation bytes", a
//! fault only where none is due.

use super::lanes::Lanes;

/// A set of halves of a byte, one bit each: `0x8000` holds 0xf.
type Nibbles = u16;

const ALL: Nibbles = 0xffff;
const ASCII: Nibbles = 0x00ff;
const CONTINUATION: Nibbles = 0x0f00;
const LEAD: Nibbles = 0xf000;

/// One nibble.
const fn only(nibble: u8) -> Nibbles {
    1 << nibble
}

/// `nibble` and those above it.
const fn from(nibble: u8) -> Nibbles {
    0xffff << nibble
}

/// The faults: high half of the first byte, its low half, high half of the second byte. The last is the bit
/// that [`faults`] compares with the continuation bytes that are due.
const FAULTS: [(Nibbles, Nibbles, Nibbles); 8] = [
    // A lead without continuation, a continuation without lead.
    (LEAD, ALL, ASCII | LEAD),
    (ASCII, ALL, CONTINUATION),
    // Longer than need be: C0 and C1; E0 80..9F; F0 80..8F, which shares its bit with F5..FF 80..8F.
    (only(0xc), only(0) | only(1), CONTINUATION),
    (only(0xe), only(0), only(8) | only(9)),
    (only(0xf), only(0) | from(5), only(8)),
    // Surrogates, ED A0..BF.
    (only(0xe), only(0xd), only(0xa) | only(0xb)),
    // Above U+10FFFF, F4 90..BF and F5..FF 90..BF.
    (only(0xf), from(4), only(9) | only(0xa) | only(0xb)),
    (CONTINUATION, ALL, CONTINUATION),
];

/// The bit of the last of [`FAULTS`].
const TWO_CONTINUATIONS: u8 = 0x80;

const FIRST_HIGH: [u8; 16] = table(0);
const FIRST_LOW: [u8; 16] = table(1);
const SECOND_HIGH: [u8; 16] = table(2);

/// The faults that each half allows.
const fn table(half: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut fault = 0;
    while fault < FAULTS.len() {
        let (first_high, first_low, second_high) = FAULTS[fault];
        let nibbles = [first_high, first_low, second_high][half];
        let mut nibble = 0;
        while nibble < 16 {
            if nibbles >> nibble & 1 == 1 {
                table[nibble] |= 1 << fault;
            }
            nibble += 1;
        }
        fault += 1;
    }
    table
}

/// Not 0 at the second byte of each faulty pair of `bytes`; `last` is the vector before.
///
/// # Safety
/// As [`Lanes`].
#[inline(always)]
unsafe fn faults<V: Lanes>(bytes: V, last: V) -> V {
    // SAFETY: the contract is the same; halves of bytes are below 16.
    unsafe {
        let [one, two, three] = bytes.before(last);
        let pairs = one
            .high_nibbles()
            .look_up(&FIRST_HIGH)
            .and(one.and(V::splat(0xf)).look_up(&FIRST_LOW))
            .and(bytes.high_nibbles().look_up(&SECOND_HIGH));
        // The highest bit of the difference is set from 0xe0 on, from 0xf0 on.
        let third = two.saturating_sub(V::splat(0xe0 - TWO_CONTINUATIONS));
        let fourth = three.saturating_sub(V::splat(0xf0 - TWO_CONTINUATIONS));
        third.or(fourth).and(V::splat(TWO_CONTINUATIONS)).xor(pairs)
    }
}

/// Whether `bytes` is well-formed UTF-8.
///
/// The input is taken as followed by zeros: a character cut off at its end shows as a lead without
/// continuation. ASCII costs one test for four vectors.
///
/// # Safety
/// As [`Lanes`].
#[inline(always)]
pub(super) unsafe fn is_valid<V: Lanes>(bytes: &[u8]) -> bool {
    let (src, len) = (bytes.as_ptr(), bytes.len());
    let mut at = 0;
    // SAFETY: every whole load ends at most at `len`, the partial one takes the fewer than WIDTH bytes left.
    unsafe {
        let zero = V::splat(0);
        let (mut last, mut found) = (zero, zero);
        while len - at >= 4 * V::WIDTH {
            let block = [
                V::load(src.add(at)),
                V::load(src.add(at + V::WIDTH)),
                V::load(src.add(at + 2 * V::WIDTH)),
                V::load(src.add(at + 3 * V::WIDTH)),
            ];
            let any = block[0].or(block[1]).or(block[2].or(block[3]));
            if last.or(any).non_ascii() != 0 {
                found = found
                    .or(faults(block[0], last))
                    .or(faults(block[1], block[0]))
                    .or(faults(block[2], block[1]))
                    .or(faults(block[3], block[2]));
            }
            last = block[3];
            at += 4 * V::WIDTH;
        }
        while len - at >= V::WIDTH {
            let vector = V::load(src.add(at));
            found = found.or(faults(vector, last));
            last = vector;
            at += V::WIDTH;
        }
        found = found.or(faults(V::load_partial(src.add(at), len - at), last));
        found.zeros() == zero.zeros()
    }
}
