//! What the UTF-8 kernels ask of a vector beyond [`Vector`]: shifts, table look-ups, the bytes before each
//! byte.

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::scan::Vector;

/// # Safety
/// Every method asks for a processor that has the instruction set of the implementing type; on x86-64 that is
/// SSSE3 for 16 bytes.
pub(super) trait Lanes: Vector {
    /// # Safety
    /// As the trait says.
    unsafe fn splat(byte: u8) -> Self;

    /// # Safety
    /// As the trait says.
    unsafe fn and(self, other: Self) -> Self;

    /// # Safety
    /// As the trait says.
    unsafe fn or(self, other: Self) -> Self;

    /// # Safety
    /// As the trait says.
    unsafe fn xor(self, other: Self) -> Self;

    /// Each byte less that of `other`, 0 where the difference is negative.
    ///
    /// # Safety
    /// As the trait says.
    unsafe fn saturating_sub(self, other: Self) -> Self;

    /// The high half of each byte: `byte >> 4`.
    ///
    /// # Safety
    /// As the trait says.
    unsafe fn high_nibbles(self) -> Self;

    /// `table[byte]` for each byte, all of which are below 16.
    ///
    /// # Safety
    /// As the trait says.
    unsafe fn look_up(self, table: &[u8; 16]) -> Self;

    /// The bytes one, two and three places before each byte; `last` is the vector before this one.
    ///
    /// # Safety
    /// As the trait says.
    unsafe fn before(self, last: Self) -> [Self; 3];
}

/// What the 16-byte transcoder asks for in addition.
pub(super) trait Lanes16: Lanes {
    /// `mask ? self : other`, for masks of 0x00 and 0xff or of single bits.
    ///
    /// # Safety
    /// As [`Lanes`].
    #[inline(always)]
    unsafe fn select(self, other: Self, mask: Self) -> Self {
        // SAFETY: the contract is the same. `other ^ ((self ^ other) & mask)` takes the bits of `self` in the
        // mask.
        unsafe { other.xor(self.xor(other).and(mask)) }
    }

    /// 0xff where a byte is ≥ `bound`.
    ///
    /// # Safety
    /// As [`Lanes`].
    unsafe fn at_least(self, bound: u8) -> Self;

    /// 0xff where the byte is the same in `other`.
    ///
    /// # Safety
    /// As [`Lanes`].
    unsafe fn equals(self, other: Self) -> Self;

    /// # Safety
    /// As [`Lanes`].
    unsafe fn wrapping_add(self, other: Self) -> Self;

    /// Each byte `<< N`.
    ///
    /// # Safety
    /// As [`Lanes`].
    unsafe fn shift_left<const N: i32>(self) -> Self;

    /// Each byte `>> N`.
    ///
    /// # Safety
    /// As [`Lanes`].
    unsafe fn shift_right<const N: i32>(self) -> Self;

    /// The first eight bytes of `self` and `high` taken in turn, then the last eight: code units out of their
    /// two bytes.
    ///
    /// # Safety
    /// As [`Lanes`].
    unsafe fn interleave(self, high: Self) -> [Self; 2];

    /// Byte `index` of the result is `self[order[index]]`.
    ///
    /// # Safety
    /// As [`Lanes`]; all of `order` is below 16.
    unsafe fn permute(self, order: &[u8; 16]) -> Self;

    /// Writes the first eight bytes, then the last eight, each in its own order: byte `index` of the first is
    /// `self[first[index]]`, of the second `self[8 + second[index]]`.
    ///
    /// # Safety
    /// As [`Lanes`]; the destinations are writable for 8 bytes; the orders are below 8.
    unsafe fn store_halves(self, first: (&[u8; 8], *mut u8), second: (&[u8; 8], *mut u8));
}
