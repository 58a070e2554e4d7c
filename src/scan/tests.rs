//! Every kernel against its plain twin: all short lengths, all alignments, a hit planted at every place.

use super::*;

/// A small generator (Marsaglia's xorshift64) with a fixed seed: every run tests the same inputs.
pub(crate) struct XorShift(u64);

impl XorShift {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }
}

/// Miri runs a thousand times slower: fewer lengths, the same kinds.
const LONGEST: usize = if cfg!(miri) { 50 } else { 200 };
const ALIGNMENTS: usize = if cfg!(miri) { 3 } else { 64 };

type Find = Box<dyn Fn(&[u8]) -> usize>;
type Finder = (String, Find, fn(&[u8]) -> usize);
type Copier = Box<dyn Fn(*const u8, usize, *mut u8) -> CopyRun>;

/// Name, kernel, twin.
fn finders() -> Vec<Finder> {
    #[allow(unused_mut, reason = "there is more to add on x86-64 only")]
    let mut all: Vec<Finder> = vec![
        ("find_nul".into(), Box::new(|bytes| find_nul(bytes).unwrap_or(bytes.len())), portable::find_nul),
        ("ascii_len".into(), Box::new(ascii_len), portable::ascii_len),
    ];
    #[cfg(target_arch = "x86_64")]
    for level in cpu::levels() {
        use super::kernel::{NonAscii, Nul, Wanted};

        fn at<W: Wanted>(level: cpu::Level) -> Find {
            // SAFETY: called with the levels that `levels` found.
            Box::new(move |bytes| unsafe { x86::find_at::<W>(level, bytes) })
        }
        all.push((format!("find_nul, {level:?}"), at::<Nul>(level), portable::find_nul));
        all.push((format!("ascii_len, {level:?}"), at::<NonAscii>(level), portable::ascii_len));
    }
    all
}

/// The public copy, the twin and the copy at every level; to be called as [`copy_json_run`] wants it.
fn copiers() -> Vec<Copier> {
    #[allow(unused_mut, reason = "there is more to add on x86-64 only")]
    let mut all: Vec<Copier> = vec![
        // SAFETY: the contract is the caller's.
        Box::new(|src, len, dst| unsafe { copy_json_run(src, len, dst) }),
        // SAFETY: the contract is the caller's.
        Box::new(|src, len, dst| unsafe { portable::copy_json_run(src, len, dst) }),
    ];
    #[cfg(target_arch = "x86_64")]
    for level in cpu::levels() {
        // SAFETY: `levels` found the level; the contract is the caller's.
        all.push(Box::new(move |src, len, dst| unsafe { x86::copy_at(level, src, len, dst) }));
    }
    all
}

/// Copies `bytes` out of a slice of exactly its length, so that Miri sees a read past its end, and checks
/// that nothing past the promised slack is written.
fn check_copy(copiers: &[Copier], bytes: &[u8]) {
    const UNTOUCHED: u8 = 0xa5;
    let copied = portable::find_escape(bytes);
    let want = CopyRun { copied, non_ascii: !bytes[..copied].is_ascii() };
    let exact: Box<[u8]> = bytes.into();
    for copy in copiers {
        let mut out = vec![UNTOUCHED; bytes.len() + SLACK + 8];
        let run = copy(exact.as_ptr(), exact.len(), out.as_mut_ptr());
        assert_eq!(run, want, "{bytes:x?}");
        assert_eq!(out[..copied], bytes[..copied]);
        assert!(
            out[copied + SLACK..].iter().all(|&byte| byte == UNTOUCHED),
            "wrote past the slack: {bytes:x?}"
        );
    }
}

#[test]
fn escapes_are_the_bytes_of_the_grammar() {
    for byte in 0..=u8::MAX {
        let escape = matches!(byte, 0..=0x1f | b'"' | b'\\');
        assert_eq!(needs_escape(byte), escape);
        for len in [1, 15, 16, 40, 64, 130] {
            let bytes = vec![byte; len];
            assert_eq!(portable::find_escape(&bytes), if escape { 0 } else { len }, "{byte:#x}");
            assert_eq!(find_nul(&bytes), (byte == 0).then_some(0));
            assert_eq!(ascii_len(&bytes), if byte < 0x80 { len } else { 0 });
        }
    }
}

#[test]
fn a_hit_at_every_place_of_every_length() {
    let step = if cfg!(miri) { 9 } else { 1 };
    for (name, find, twin) in finders() {
        for len in (0..=LONGEST).step_by(step) {
            let mut bytes = vec![b'x'; len];
            assert_eq!(find(&bytes), len, "{name}, {len} misses");
            for place in (0..len).step_by(step) {
                for hit in [0, 0x1f, b'"', b'\\', 0x80, 0xff] {
                    bytes[place] = hit;
                    assert_eq!(find(&bytes), twin(&bytes), "{name}, {hit:#x} at {place} of {len}");
                    bytes[place] = b'x';
                }
            }
        }
    }
}

#[test]
fn random_bytes_at_every_alignment() {
    let mut random = XorShift::new(0x5eed);
    let (finders, copiers) = (finders(), copiers());
    for offset in 0..ALIGNMENTS {
        for _ in 0..if cfg!(miri) { 4 } else { 100 } {
            let len = random.below(2 * LONGEST);
            // Rarely a byte to find, so that the search gets far; every byte value comes.
            let bytes: Vec<u8> =
                (0..offset + len)
                    .map(|_| {
                        if random.below(64) == 0 {
                            random.next() as u8
                        } else {
                            b'a' + random.below(26) as u8
                        }
                    })
                    .collect();
            for (name, find, twin) in &finders {
                assert_eq!(find(&bytes[offset..]), twin(&bytes[offset..]), "{name}: {:x?}", &bytes[offset..]);
            }
            check_copy(&copiers, &bytes[offset..]);
        }
    }
}

#[test]
fn copies_up_to_the_first_escape() {
    let copiers = copiers();
    let step = if cfg!(miri) { 13 } else { 1 };
    for len in (0..=LONGEST).step_by(step) {
        let mut bytes: Vec<u8> = (0..len).map(|index| b'a' + (index % 26) as u8).collect();
        check_copy(&copiers, &bytes);
        for place in (0..len).step_by(step) {
            let kept = bytes[place];
            for planted in [0, b'"', 0xc3] {
                bytes[place] = planted;
                check_copy(&copiers, &bytes);
                // A byte that is not ASCII behind the run does not count.
                if let Some(next) = bytes.get_mut(place + 1) {
                    let kept = core::mem::replace(next, 0xa9);
                    check_copy(&copiers, &bytes);
                    bytes[place + 1] = kept;
                }
            }
            bytes[place] = kept;
        }
    }
}
