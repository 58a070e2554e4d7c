//! The kernels over any [`Vector`].

use super::{CopyRun, SLACK, Vector};

/// What [`find`] looks for.
pub(super) trait Wanted {
    /// One bit for each byte that is wanted.
    ///
    /// # Safety
    /// The processor has the instruction set of `V`.
    unsafe fn hits<V: Vector>(bytes: V) -> u64;
}

/// The byte 0.
pub(super) struct Nul;
/// A byte ≥ 0x80.
pub(super) struct NonAscii;

impl Wanted for Nul {
    #[inline(always)]
    unsafe fn hits<V: Vector>(bytes: V) -> u64 {
        // SAFETY: the contract is the same.
        unsafe { bytes.zeros() }
    }
}

impl Wanted for NonAscii {
    #[inline(always)]
    unsafe fn hits<V: Vector>(bytes: V) -> u64 {
        // SAFETY: the contract is the same.
        unsafe { bytes.non_ascii() }
    }
}

/// The lowest set bit's index; 64 for an empty mask.
#[inline(always)]
fn first(mask: u64) -> usize {
    mask.trailing_zeros() as usize
}

/// Index of the first byte that is wanted, or `bytes.len()`.
///
/// Equals the loop over single bytes. Whole vectors first; the rest by one more vector that ends where the
/// input ends and so repeats bytes known to be misses, or, where the input is shorter than a vector, by a
/// partial load, whose zeros past the input are cut off by `min`.
///
/// # Safety
/// The processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn find<V: Vector, W: Wanted>(bytes: &[u8]) -> usize {
    let (src, len) = (bytes.as_ptr(), bytes.len());
    let mut at = 0;
    // SAFETY: `at + WIDTH <= len` before each whole load, `len < WIDTH` before the partial one.
    unsafe {
        while len - at >= V::WIDTH {
            let mask = W::hits(V::load(src.add(at)));
            if mask != 0 {
                return at + first(mask);
            }
            at += V::WIDTH;
        }
        if at == len {
            return len;
        }
        if at == 0 {
            return first(W::hits(V::load_partial(src, len))).min(len);
        }
        at = len - V::WIDTH;
        (at + first(W::hits(V::load(src.add(at))))).min(len)
    }
}

/// # Safety
/// As [`copy_json_run`](super::copy_json_run), and the processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn copy<V: Vector>(src: *const u8, len: usize, dst: *mut u8) -> CopyRun {
    const { assert!(V::WIDTH <= SLACK) };
    let mut at = 0;
    let mut non_ascii = 0;
    // SAFETY: `at + WIDTH <= len` before each whole load, `len < WIDTH` before the partial one. A store
    // begins at most at `len`, so it ends within `len + SLACK`.
    unsafe {
        while len - at >= V::WIDTH {
            let bytes = V::load(src.add(at));
            bytes.store(dst.add(at));
            let escapes = bytes.escapes();
            if escapes != 0 {
                non_ascii |= bytes.non_ascii() & below_lowest(escapes);
                return CopyRun { copied: at + first(escapes), non_ascii: non_ascii != 0 };
            }
            non_ascii |= bytes.non_ascii();
            at += V::WIDTH;
        }
        if at == len {
            return CopyRun { copied: len, non_ascii: non_ascii != 0 };
        }
        let bytes = if at == 0 {
            V::load_partial(src, len)
        } else {
            at = len - V::WIDTH;
            V::load(src.add(at))
        };
        bytes.store(dst.add(at));
        let escapes = bytes.escapes();
        non_ascii |= bytes.non_ascii() & below_lowest(escapes);
        CopyRun { copied: (at + first(escapes)).min(len), non_ascii: non_ascii != 0 }
    }
}

/// The bits below the lowest set bit of `mask`; all bits where none is set.
#[inline(always)]
fn below_lowest(mask: u64) -> u64 {
    (mask & mask.wrapping_neg()).wrapping_sub(1)
}
