//! The transcoders in steps of 16 bytes, for SSSE3, AVX2 (the same in the shorter encoding) and NEON.
//!
//! Both work on all 16 bytes at once as if a character ended at each, then keep the results of the places
//! where one does: a table of shuffles, by the mask of eight places, moves them together. The output pointer
//! moves on by the number kept, so the surplus of one store is overwritten by the next.

use super::lanes::Lanes16;
use super::marks::Leads;
use super::{BLOCK, Progress};

const WIDTH: usize = 16;
/// Callers make room for [`BLOCK`] units more than the input, of which these kernels ask [`WIDTH`].
const _: () = assert!(WIDTH <= BLOCK);

/// For each mask of eight places, the places set, in order.
static KEPT_BYTES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut place, mut kept) = (0, 0);
        while place < 8 {
            if mask >> place & 1 == 1 {
                table[mask][kept] = place;
                kept += 1;
            }
            place += 1;
        }
        mask += 1;
    }
    table
};

/// The same for units of two bytes.
static KEPT_UNITS: [[u8; 16]; 256] = {
    let mut table = [[0; 16]; 256];
    let mut mask = 0;
    while mask < 256 {
        let mut unit = 0;
        while unit < 8 {
            table[mask][2 * unit] = 2 * KEPT_BYTES[mask][unit];
            table[mask][2 * unit + 1] = 2 * KEPT_BYTES[mask][unit] + 1;
            unit += 1;
        }
        mask += 1;
    }
    table
};

/// Transcodes the longest prefix of `bytes` that Latin-1 holds, or less by up to a block.
///
/// Leads are dropped; the continuation byte after C2 is the character as it is, after C3 with 0x40 added.
///
/// # Safety
/// As [`Lanes16`]; `dst` is writable for `bytes.len() + WIDTH` bytes.
#[inline(always)]
pub(super) unsafe fn latin1<V: Lanes16>(bytes: &[u8], dst: *mut u8) -> Progress {
    let (src, len) = (bytes.as_ptr(), bytes.len());
    let (mut at, mut written) = (0, 0);
    let mut before = Leads::<16>::default();
    // SAFETY: a block is loaded whole only where 16 bytes are left. `written <= at`, so each store of 16
    // bytes from `written` on ends within `len + WIDTH`.
    unsafe {
        let mut last = V::splat(0);
        while at < len {
            let left = (len - at).min(WIDTH);
            let vector =
                if left == WIDTH { V::load(src.add(at)) } else { V::load_partial(src.add(at), left) };
            let non_ascii = vector.non_ascii();
            if non_ascii == 0 && before.two == 0 {
                vector.store(dst.add(written));
                written += left;
            } else {
                let leads = vector.and(V::splat(0xfe)).equals(V::splat(0xc2));
                let now = Leads { two: leads.non_ascii(), ..Leads::default() };
                let second = now.second(before);
                // No lead but C2 and C3; each continuation is due and each that is due is there. A lead where
                // a continuation is due is in both masks, so it is missing on the right.
                let above = vector.at_least(0xc0).non_ascii();
                if above != now.two || non_ascii != above ^ second {
                    break;
                }
                let [one, ..] = vector.before(last);
                let bytes = vector.wrapping_add(one.equals(V::splat(0xc3)).and(V::splat(0x40)));
                let kept = !now.two & (0xffff >> (WIDTH - left));
                let (first, second) = (kept as usize & 0xff, kept as usize >> 8);
                let middle = written + first.count_ones() as usize;
                bytes.store_halves(
                    (&KEPT_BYTES[first], dst.add(written)),
                    (&KEPT_BYTES[second], dst.add(middle)),
                );
                written = middle + second.count_ones() as usize;
                before = now;
            }
            last = vector;
            at += left;
        }
    }
    Progress { read: at - before.pending(), written }
}

/// Transcodes the longest well-formed prefix of `bytes` to UTF-16, or less by up to a block.
///
/// # Safety
/// As [`Lanes16`]; `dst` is writable for `bytes.len() + WIDTH` units.
#[inline(always)]
pub(super) unsafe fn utf16<V: Lanes16>(bytes: &[u8], dst: *mut u16) -> Progress {
    let (src, len) = (bytes.as_ptr(), bytes.len());
    let (mut at, mut written) = (0, 0);
    let mut before = Leads::<16>::default();
    // SAFETY: a block is loaded whole only where 16 bytes are left. `written <= at`, so the stores of 16
    // units from `written` on end within `len + WIDTH`.
    unsafe {
        let mut last = V::splat(0);
        while at < len {
            let left = (len - at).min(WIDTH);
            let vector =
                if left == WIDTH { V::load(src.add(at)) } else { V::load_partial(src.add(at), left) };
            let non_ascii = vector.non_ascii();
            if non_ascii == 0 && before.two == 0 {
                let [first, second] = vector.interleave(V::splat(0));
                first.store(dst.add(written).cast());
                second.store(dst.add(written + 8).cast());
                written += left;
            } else {
                let Some((low, high, now)) = units(vector, last, non_ascii, before) else { break };
                let kept = !(now.two | now.second_of_three(before)) & (0xffff >> (WIDTH - left));
                let (first, second) = (kept as usize & 0xff, kept as usize >> 8);
                let [low_units, high_units] = low.interleave(high);
                low_units.permute(&KEPT_UNITS[first]).store(dst.add(written).cast());
                written += first.count_ones() as usize;
                high_units.permute(&KEPT_UNITS[second]).store(dst.add(written).cast());
                written += second.count_ones() as usize;
                before = now;
            }
            last = vector;
            at += left;
        }
    }
    before.progress(at, written)
}

/// The low and the high byte of the code unit that ends at each byte of `vector`, right wherever one does,
/// and the leads; `None` where the block is ill-formed.
///
/// # Safety
/// As [`Lanes16`].
#[inline(always)]
unsafe fn units<V: Lanes16>(
    vector: V,
    last: V,
    non_ascii: u64,
    before: Leads<16>,
) -> Option<(V, V, Leads<16>)> {
    // SAFETY: the contract is the same.
    unsafe {
        let [one, two, three] = vector.before(last);
        let is_non_ascii = vector.at_least(0x80);
        // 00hhhhll 00llllll out of 110hhhll 10llllll, or the byte itself where it is ASCII.
        let mut low = one.shift_left::<6>().select(vector, V::splat(0xc0)).select(vector, is_non_ascii);
        let mut high = one.shift_right::<2>().and(V::splat(0xf)).and(is_non_ascii);
        let mut now = Leads { two: vector.at_least(0xc2).non_ascii(), ..Leads::default() };
        let above = vector.at_least(0xc0).non_ascii();
        let mut due = now.second(before);
        let mut wrong = V::splat(0);
        let leads_of_three = vector.at_least(0xe0).non_ascii();
        if leads_of_three | before.three != 0 {
            now.three = leads_of_three;
            now.four = vector.at_least(0xf0).non_ascii();
            due |= now.third(before) | now.fourth(before);
            // hhhhhhhh out of 1110hhhh 10hhhhll.
            let is_third = two.at_least(0xe0);
            high = high.or(two.shift_left::<4>().and(is_third));
            // Below U+0800 or a surrogate.
            let top = high.and(V::splat(0xf8));
            wrong = top.equals(V::splat(0)).or(top.equals(V::splat(0xd8))).and(is_third);
            if now.four | before.four != 0 {
                // The low surrogate at the fourth byte: 110111hh, and `low` as for two bytes.
                let low_surrogate = high.and(V::splat(3)).or(V::splat(0xdc));
                high = low_surrogate.select(high, three.at_least(0xf0));
                // The high surrogate at the third: 0xd7c0 + 11110hhh 10llllll 10ll....
                let is_third = two.at_least(0xf0);
                let bits = one.shift_left::<2>().or(vector.shift_right::<4>().and(V::splat(3)));
                let carry = bits.at_least(0x40).and(V::splat(1));
                low = bits.wrapping_add(V::splat(0xc0)).select(low, is_third);
                let top = two.and(V::splat(0xf)).wrapping_add(V::splat(0xd7)).wrapping_add(carry);
                high = top.select(high, is_third);
                // It is none where the character is below U+10000, above U+10FFFF or its lead above F4.
                let none = top.and(V::splat(0xfc)).equals(V::splat(0xd8)).xor(V::splat(0xff));
                wrong = none.select(wrong, is_third);
            }
        }
        // No lead is C0 or C1; each continuation is due and each that is due is there. A lead where a
        // continuation is due is in both masks, so it is missing on the right.
        let well_formed = above == now.two && non_ascii == above ^ due && wrong.non_ascii() == 0;
        well_formed.then_some((low, high, now))
    }
}
