//! When large buffers are given back.

/// Objects of at most so many bytes do without large buffers.
const SMALL: usize = 512 << 10;
/// After so many of them, large buffers that one before needed are given back. Not at once: memory that is new for
/// every document of a run of large ones costs page faults. (a 1.5 MB document, each followed by a small one: 1.53 ms
/// where the first lets go, 1.42 so)
pub const PATIENCE: u32 = 64;

/// Counts small objects behind a large one.
#[derive(Default)]
pub struct Patience(u32);

impl Patience {
    /// Whether large buffers are to be given back now that an object of so many bytes is done.
    #[inline(always)]
    #[must_use]
    pub fn is_over(&mut self, length: usize) -> bool {
        self.0 = if length > SMALL { 0 } else { self.0 + 1 };
        let is_over = self.0 >= PATIENCE;
        if is_over {
            self.0 = 0;
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::{PATIENCE, Patience, SMALL};

    #[test]
    fn is_over_after_small_ones_in_a_row_and_begins_again() {
        let mut patience = Patience::default();
        for _ in 0..2 {
            assert!((1..PATIENCE).all(|_| !patience.is_over(SMALL)));
            assert!(!patience.is_over(SMALL + 1));
            assert!((1..PATIENCE).all(|_| !patience.is_over(SMALL)));
            assert!(patience.is_over(SMALL));
        }
    }
}
