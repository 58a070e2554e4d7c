//! Runs of ObjectIds in an array, as JSON text, where the processor has registers that hold two of them.
//!
//! An array's keys are its indices in digits, so the elements of a run are of one length but where a digit is added:
//! two of them are checked and formatted by ten instructions. The plain twin is the loop over single elements in
//! `json`, which takes what is left here. (array of 1,000 ObjectIds: 5.8 to 2.4 µs)

/// What was done of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Bytes of elements.
    pub read: usize,
    /// Bytes of text.
    pub written: usize,
}

/// Pairs of elements that are written at once at most.
const MAX_PAIRS: usize = 64;
/// Text of two: `"…","…",`.
const PAIR: usize = 2 * (crate::hex::OBJECT_ID_TEXT + 3);
/// Bytes that are loaded and stored at once.
pub const WIDTH: usize = 64;
/// Bytes of room that [`write_run`] asks for.
pub const ROOM: usize = MAX_PAIRS * PAIR + WIDTH;

/// Writes the text and commas of the first elements of an array, as far as they are pairs of ObjectIds with keys of one
/// length; perhaps none.
///
/// # Safety
/// `dst` is writable for [`ROOM`] bytes.
#[inline(always)]
pub unsafe fn write_run(elements: &[u8], dst: *mut u8) -> Run {
    #[cfg(target_arch = "x86_64")]
    if crate::scan::cpu::level() == crate::scan::cpu::Level::Avx512 {
        // SAFETY: the processor was asked; the rest is the caller's contract.
        return unsafe { avx512::write_run(elements, dst) };
    }
    let _ = (elements, dst);
    Run::default()
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{MAX_PAIRS, PAIR, Run, WIDTH};
    use crate::spec::{OBJECT_ID, element_type};
    use core::arch::x86_64::*;

    /// Digits of a key at most.
    const MAX_DIGITS: usize = 7;

    /// How two elements with keys of a length become text.
    struct Layout {
        /// Bytes of an element.
        element: usize,
        /// Where the types stand, as bits.
        types: u64,
        /// Where the keys stand with their zero bytes, and where these.
        keys: u64,
        nuls: u64,
        /// Which byte each character is of.
        source: [u8; WIDTH],
    }

    const LAYOUTS: [Layout; MAX_DIGITS] = {
        let mut layouts = [const { layout(1) }; MAX_DIGITS];
        let mut digits = 1;
        while digits <= MAX_DIGITS {
            layouts[digits - 1] = layout(digits);
            digits += 1;
        }
        layouts
    };

    const fn layout(digits: usize) -> Layout {
        let element = 1 + digits + 1 + OBJECT_ID;
        let key = ((1 << (digits + 1)) - 1) << 1;
        let nul = 1 << (digits + 1);
        let mut source = [0; WIDTH];
        let mut at = 0;
        while at < PAIR {
            let (index, place) = (at / (PAIR / 2), at % (PAIR / 2));
            if 1 <= place && place <= 2 * OBJECT_ID {
                source[at] = (index * element + 1 + digits + 1 + (place - 1) / 2) as u8;
            }
            at += 1;
        }
        Layout {
            element,
            types: 1 | 1 << element,
            keys: key | key << element,
            nuls: nul | nul << element,
            source,
        }
    }

    /// Which bits of its eight bytes each character is made of: the four higher ones of a byte, then the four lower.
    const SHIFTS: [u8; WIDTH] = {
        let mut shifts = [0; WIDTH];
        let mut at = 0;
        while at < PAIR {
            let is_first_digit = at % (PAIR / 2) % 2 == 1;
            shifts[at] = (8 * (at % 8) + if is_first_digit { 4 } else { 0 }) as u8;
            at += 1;
        }
        shifts
    };

    /// Quotes and commas, and where they stand.
    const SIGNS: ([u8; WIDTH], u64) = {
        let (mut signs, mut places) = ([0; WIDTH], 0);
        let mut at = 0;
        while at < PAIR {
            let place = at % (PAIR / 2);
            if place == 0 || place > 2 * OBJECT_ID {
                signs[at] = if place == PAIR / 2 - 1 { b',' } else { b'"' };
                places |= 1 << at;
            }
            at += 1;
        }
        (signs, places)
    };

    const DIGITS: [u8; 16] = *b"0123456789abcdef";

    #[inline(always)]
    fn load(bytes: &[u8; WIDTH]) -> __m512i {
        // SAFETY: as many bytes are readable; the features are enabled wherever this is inlined.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    /// # Safety
    /// As [`super::write_run`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn write_run(elements: &[u8], dst: *mut u8) -> Run {
        let mut run = Run::default();
        let Some(first) = elements.first_chunk::<WIDTH>() else { return run };
        // The type is no zero byte.
        let nuls = _mm512_testn_epi8_mask(load(first), load(first));
        let Some(layout) = (nuls.trailing_zeros() as usize).checked_sub(2).and_then(|at| LAYOUTS.get(at))
        else {
            return run;
        };
        let (source, shifts, signs) = (load(&layout.source), load(&SHIFTS), load(&SIGNS.0));
        // SAFETY: sixteen bytes are readable.
        let digits = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(DIGITS.as_ptr().cast()) });
        for _ in 0..MAX_PAIRS {
            let Some(pair) = elements[run.read..].first_chunk::<WIDTH>() else { break };
            let bytes = load(pair);
            let types = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(element_type::OBJECT_ID as i8));
            let nuls = _mm512_testn_epi8_mask(bytes, bytes);
            if types & layout.types != layout.types || nuls & layout.keys != layout.nuls {
                break;
            }
            let nibbles = _mm512_multishift_epi64_epi8(shifts, _mm512_permutexvar_epi8(source, bytes));
            let nibbles = _mm512_and_si512(nibbles, _mm512_set1_epi8(0xf));
            let text = _mm512_mask_mov_epi8(_mm512_shuffle_epi8(digits, nibbles), SIGNS.1, signs);
            // SAFETY: fewer than `MAX_PAIRS` pairs are written, and there is room for all of them and one register.
            unsafe { _mm512_storeu_si512(dst.add(run.written).cast(), text) };
            // Two elements are at most `WIDTH` bytes, so they are there.
            run.read += 2 * layout.element;
            run.written += PAIR;
        }
        run
    }

    const _: () = assert!(2 * LAYOUTS[MAX_DIGITS - 1].element <= WIDTH);
}

#[cfg(test)]
mod tests {
    use super::{MAX_PAIRS, PAIR, ROOM, Run, write_run};

    fn run(elements: &[u8]) -> (Run, Vec<u8>) {
        let mut text = vec![0; ROOM];
        // SAFETY: there is as much room as is asked for.
        let run = unsafe { write_run(elements, text.as_mut_ptr()) };
        text.truncate(run.written);
        (run, text)
    }

    /// Elements with keys from `first` on, and the text of each.
    fn elements(first: usize, count: usize) -> (Vec<u8>, Vec<(usize, String)>) {
        let (mut bytes, mut ends, mut state) = (Vec::new(), Vec::new(), 0x9e37_79b9_7f4a_7c15_u64);
        for key in first..first + count {
            let id: [u8; 12] = std::array::from_fn(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Zero bytes and bytes like a type among them.
                [0, 7, state as u8, (state >> 8) as u8][(state >> 20) as usize % 4]
            });
            bytes.push(7);
            bytes.extend(format!("{key}\0").bytes());
            bytes.extend(id);
            ends.push((bytes.len(), format!("\"{}\",", id.map(|byte| format!("{byte:02x}")).concat())));
        }
        (bytes, ends)
    }

    fn is_fast() -> bool {
        #[cfg(target_arch = "x86_64")]
        return crate::scan::cpu::level() == crate::scan::cpu::Level::Avx512;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    #[test]
    fn pairs_are_the_text_of_their_elements_for_keys_of_every_length() {
        for first in [0, 3, 10, 97, 1000, 99_990, 123_456, 9_999_900] {
            for count in 0..if cfg!(miri) { 8 } else { 2 * MAX_PAIRS + 9 } {
                let (bytes, ends) = elements(first, count);
                let (run, text) = run(&bytes);
                assert_eq!(run.written % PAIR, 0);
                let taken = 2 * run.written / PAIR;
                assert_eq!(run.read, taken.checked_sub(1).map_or(0, |last| ends[last].0));
                let expected: String = ends[..taken].iter().map(|(_, text)| text.as_str()).collect();
                assert_eq!(String::from_utf8(text).as_deref(), Ok(expected.as_str()));
                // Keys of one length go in one run, as long as a register can be loaded.
                let same = ends
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| (first + at).to_string().len() == first.to_string().len());
                let wanted = (same.count().saturating_sub(4) / 2).min(MAX_PAIRS);
                assert!(!is_fast() || taken / 2 >= wanted, "{first} {count}: {taken}");
            }
        }
    }

    #[test]
    fn what_is_no_pair_of_object_ids_is_left() {
        let (bytes, _) = elements(10, 8);
        let whole = run(&bytes).0;
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            let place = at % 16;
            if place >= 4 {
                continue;
            }
            // A type becomes another, a key's zero byte a digit, a digit a zero byte.
            changed[at] = if place == 3 { b'5' } else { u8::from(place == 0) };
            let left = run(&changed).0;
            assert!(left.read <= whole.read && left.read <= at / 16 * 16, "{at}: {left:?}");
        }
        assert_eq!(run(&bytes[1..]).0, Run::default());
        assert_eq!(run(&[7; 100]).0, Run::default());
        assert_eq!(run(&[0; 100]).0, Run::default());
    }
}
