//! The transcoders in steps of 64 bytes, for AVX-512 with VBMI2.
//!
//! As in the 16-byte kernels, all places are computed as if a character ended at each. Here one instruction
//! (compress) moves together those where one does, and masks serve as the conditions.

use super::lanes::Lanes;
use super::marks::Leads;
use super::{BLOCK, Progress};
use crate::scan::Vector;
use core::arch::x86_64::*;

const WIDTH: usize = 64;
/// Callers make room for [`BLOCK`] units more than the input, of which these kernels ask [`WIDTH`].
const _: () = assert!(WIDTH <= BLOCK);

/// Transcodes the longest prefix of `bytes` that Latin-1 holds, or less by up to a block.
///
/// Leads are dropped; the continuation byte after C2 is the character as it is, after C3 with 0x40 added.
///
/// # Safety
/// `dst` is writable for `bytes.len() + WIDTH` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn latin1(bytes: &[u8], dst: *mut u8) -> Progress {
    let (src, len) = (bytes.as_ptr(), bytes.len());
    let (mut at, mut written) = (0, 0);
    let mut before = Leads::<64>::default();
    // The leads C3 of the block before.
    let mut before_upper = 0;
    while at < len {
        let left = (len - at).min(WIDTH);
        // SAFETY: `left` bytes are readable; the features are enabled here.
        let vector = unsafe {
            if left == WIDTH { __m512i::load(src.add(at)) } else { __m512i::load_partial(src.add(at), left) }
        };
        let non_ascii = _mm512_movepi8_mask(vector);
        let (characters, kept) = if non_ascii == 0 && before.two == 0 {
            (vector, left)
        } else {
            let upper = _mm512_cmpeq_epi8_mask(vector, _mm512_set1_epi8(0xc3_u8 as i8));
            let lower = _mm512_cmpeq_epi8_mask(vector, _mm512_set1_epi8(0xc2_u8 as i8));
            let above = _mm512_cmpge_epu8_mask(vector, _mm512_set1_epi8(0xc0_u8 as i8));
            let now = Leads { two: upper | lower, ..Leads::default() };
            let second = now.second(before);
            // No other lead; each continuation is due and each that is due is there. A lead where a
            // continuation is due is in both masks, so it is missing on the right.
            if above != now.two || non_ascii != above ^ second {
                break;
            }
            let after_upper = upper << 1 | before_upper >> 63;
            let moved = _mm512_mask_add_epi8(vector, after_upper, vector, _mm512_set1_epi8(0x40));
            let keep = !now.two & u64::MAX >> (WIDTH - left);
            (before, before_upper) = (now, upper);
            (_mm512_maskz_compress_epi8(keep, moved), keep.count_ones() as usize)
        };
        // SAFETY: `written <= at`, so the store ends within `len + WIDTH`.
        unsafe { characters.store(dst.add(written)) };
        written += kept;
        at += left;
    }
    Progress { read: at - before.pending(), written }
}

/// Transcodes the longest well-formed prefix of `bytes` to UTF-16, or less by up to a block.
///
/// # Safety
/// `dst` is writable for `bytes.len() + WIDTH` units.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn utf16(bytes: &[u8], dst: *mut u16) -> Progress {
    let (src, len) = (bytes.as_ptr(), bytes.len());
    let (mut at, mut written) = (0, 0);
    let mut before = Leads::<64>::default();
    let mut last = _mm512_setzero_si512();
    while at < len {
        let left = (len - at).min(WIDTH);
        // SAFETY: `left` bytes are readable; the features are enabled here.
        let vector = unsafe {
            if left == WIDTH { __m512i::load(src.add(at)) } else { __m512i::load_partial(src.add(at), left) }
        };
        let non_ascii = _mm512_movepi8_mask(vector);
        let (low, high, kept);
        if non_ascii == 0 && before.two == 0 {
            (low, high, kept) = (vector, _mm512_setzero_si512(), left);
        } else {
            let Some((low_bytes, high_bytes, now)) = units(vector, last, non_ascii, before) else { break };
            let keep = !(now.two | now.second_of_three(before)) & u64::MAX >> (WIDTH - left);
            low = _mm512_maskz_compress_epi8(keep, low_bytes);
            high = _mm512_maskz_compress_epi8(keep, high_bytes);
            kept = keep.count_ones() as usize;
            before = now;
        }
        let [first, second] = interleave(low, high);
        // SAFETY: `written <= at`, so the stores of 64 units end within `len + WIDTH`.
        unsafe {
            first.store(dst.add(written).cast());
            second.store(dst.add(written + WIDTH / 2).cast());
        }
        written += kept;
        last = vector;
        at += left;
    }
    before.progress(at, written)
}

/// Code units out of their low and high bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn interleave(low: __m512i, high: __m512i) -> [__m512i; 2] {
    // The unpacking works within each 16 bytes: bring the eights that it takes from there into order first.
    let order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    let low = _mm512_permutexvar_epi64(order, low);
    let high = _mm512_permutexvar_epi64(order, high);
    [_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high)]
}

/// Each bit from `yes` where `choice` has it set, else from `no`.
#[inline]
#[target_feature(enable = "avx512f")]
fn select(choice: __m512i, yes: __m512i, no: __m512i) -> __m512i {
    // The truth table of `choice ? yes : no`.
    _mm512_ternarylogic_epi32::<0xca>(choice, yes, no)
}

/// The low and the high byte of the code unit that ends at each byte of `vector`, right wherever one does,
/// and the leads; `None` where the block is ill-formed.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
fn units(
    vector: __m512i,
    last: __m512i,
    non_ascii: u64,
    before: Leads<64>,
) -> Option<(__m512i, __m512i, Leads<64>)> {
    let splat = |byte: u8| _mm512_set1_epi8(byte as i8);
    // SAFETY: the features are enabled here.
    let [one, two, _] = unsafe { vector.before(last) };
    // 00000hhh llllllll out of 110hhhll 10llllll, or the byte itself where it is ASCII.
    let six = select(splat(0x3f), vector, _mm512_slli_epi16::<6>(one));
    let mut low = _mm512_mask_mov_epi8(vector, non_ascii, six);
    let shifted = _mm512_and_si512(_mm512_srli_epi16::<2>(one), splat(0xf));
    let mut high = _mm512_maskz_mov_epi8(non_ascii, shifted);
    let mut now = Leads { two: _mm512_cmpge_epu8_mask(vector, splat(0xc2)), ..Leads::default() };
    let above = _mm512_cmpge_epu8_mask(vector, splat(0xc0));
    let leads_of_three = _mm512_cmpge_epu8_mask(vector, splat(0xe0));
    let mut due = now.second(before);
    let mut wrong = 0;
    if leads_of_three | before.three != 0 {
        now.three = leads_of_three;
        now.four = _mm512_cmpge_epu8_mask(vector, splat(0xf0));
        due |= now.third(before) | now.fourth(before);
        // hhhhhhhh out of 1110hhhh 10hhhhll.
        let third = now.third(before);
        let four = select(splat(0xf0), _mm512_slli_epi16::<4>(two), high);
        high = _mm512_mask_mov_epi8(high, third, four);
        // Below U+0800 or a surrogate.
        let top = _mm512_and_si512(high, splat(0xf8));
        wrong = _mm512_mask_testn_epi8_mask(third, top, top)
            | _mm512_mask_cmpeq_epi8_mask(third, top, splat(0xd8));
        if now.four | before.four != 0 {
            // The low surrogate at the fourth byte: 110111hh, and `low` as for two bytes.
            let low_surrogate = select(splat(3), high, splat(0xdc));
            high = _mm512_mask_mov_epi8(high, now.fourth(before), low_surrogate);
            // The high surrogate at the third: 0xd7c0 + 11110hhh 10llllll 10ll....
            let third = now.third_of_four(before);
            let bits = select(splat(0xfc), _mm512_slli_epi16::<2>(one), _mm512_srli_epi16::<4>(vector));
            low = _mm512_mask_add_epi8(low, third, bits, splat(0xc0));
            let top = _mm512_add_epi8(_mm512_and_si512(two, splat(0xf)), splat(0xd7));
            let carry = _mm512_cmpge_epu8_mask(bits, splat(0x40));
            let top = _mm512_mask_add_epi8(top, carry, top, splat(1));
            high = _mm512_mask_mov_epi8(high, third, top);
            // It is none where the character is below U+10000, above U+10FFFF or its lead above F4.
            let is_surrogate = _mm512_cmpeq_epi8_mask(_mm512_and_si512(top, splat(0xfc)), splat(0xd8));
            wrong = wrong & !third | third & !is_surrogate;
        }
    }
    // No lead is C0 or C1; each continuation is due and each that is due is there. A lead where a
    // continuation is due is in both masks, so it is missing on the right.
    let well_formed = above == now.two && non_ascii == above ^ due && wrong == 0;
    well_formed.then_some((low, high, now))
}
