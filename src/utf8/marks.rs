//! Where the characters of a block of bytes begin and end: arithmetic on masks with one bit a byte, the
//! lowest for the first, shared by the vector kernels.

use super::Progress;

/// The leads of one block of `WIDTH` bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Leads<const WIDTH: u32> {
    /// Leads of two bytes and more: C2..FF. What of F5..FF is ill-formed shows in the code unit.
    pub(super) two: u64,
    /// Leads of three bytes and more: E0..FF.
    pub(super) three: u64,
    /// Leads of four bytes: F0..FF.
    pub(super) four: u64,
}

impl<const WIDTH: u32> Leads<WIDTH> {
    const FULL: u64 = u64::MAX >> (64 - WIDTH);

    /// `now` moved by `N` places to the later bytes, with what comes over from the block before.
    #[inline(always)]
    fn shift<const N: u32>(now: u64, before: u64) -> u64 {
        (now << N | before >> (WIDTH - N)) & Self::FULL
    }

    /// The second bytes of the characters; `before` is the block before.
    #[inline(always)]
    pub(super) fn second(self, before: Self) -> u64 {
        Self::shift::<1>(self.two, before.two)
    }

    /// The second bytes of characters of three bytes and more.
    #[inline(always)]
    pub(super) fn second_of_three(self, before: Self) -> u64 {
        Self::shift::<1>(self.three, before.three)
    }

    /// The third bytes.
    #[inline(always)]
    pub(super) fn third(self, before: Self) -> u64 {
        Self::shift::<2>(self.three, before.three)
    }

    /// The third bytes of characters of four.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn third_of_four(self, before: Self) -> u64 {
        Self::shift::<2>(self.four, before.four)
    }

    /// The fourth bytes.
    #[inline(always)]
    pub(super) fn fourth(self, before: Self) -> u64 {
        Self::shift::<3>(self.four, before.four)
    }

    /// How many of the block's last bytes belong to a character that goes on in the next block.
    #[inline(always)]
    pub(super) fn pending(self) -> usize {
        if self.two >> (WIDTH - 1) & 1 == 1 {
            1
        } else if self.three >> (WIDTH - 2) & 1 == 1 {
            2
        } else if self.four >> (WIDTH - 3) & 1 == 1 {
            3
        } else {
            0
        }
    }

    /// What a UTF-16 kernel did that stops with this block at `at`: a character that goes on is taken back,
    /// and with it the high surrogate, which its third byte has left.
    #[inline(always)]
    pub(super) fn progress(self, at: usize, written: usize) -> Progress {
        let pending = self.pending();
        Progress { read: at - pending, written: written - usize::from(pending == 3) }
    }
}
