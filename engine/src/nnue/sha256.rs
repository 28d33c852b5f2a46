//! SHA-256 (FIPS 180-4), which detects damaged network files.
//!
//! It is written here to keep the engine nearly free of dependencies: only tablebases and Linux
//! system calls come from libraries.

/// Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
const ROUNDS: [u32; 64] = fractions(3);

/// Fractional parts of the square roots of the first eight primes (FIPS 180-4, 5.3.3).
const INITIAL: [u32; 8] = fractions(2);

/// Computes the 32 bits after the point of the `degree`-th roots of the first primes.
const fn fractions<const N: usize>(degree: u32) -> [u32; N] {
    let mut words = [0; N];
    let mut found = 0;
    let mut candidate: u128 = 2;
    while found < N {
        let mut divisor = 2;
        while divisor * divisor <= candidate && !candidate.is_multiple_of(divisor) {
            divisor += 1;
        }
        if divisor * divisor > candidate {
            words[found] = root_bits(candidate, degree);
            found += 1;
        }
        candidate += 1;
    }
    words
}

/// Computes the low 32 bits of the integer root of `number * 2^(32 * degree)`, bit by bit.
const fn root_bits(number: u128, degree: u32) -> u32 {
    let target = number << (32 * degree);
    let mut root: u128 = 0;
    let mut bit = 40;
    while bit > 0 {
        bit -= 1;
        let next = root | 1 << bit;
        if next.pow(degree) <= target {
            root = next;
        }
    }
    root as u32
}

/// Returns the digest of some bytes in hexadecimal, as `sha256sum` prints it.
pub fn sha256_hex(bytes: &[u8]) -> String {
    sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the digest of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut state = INITIAL;
    let (blocks, rest) = bytes.as_chunks::<64>();
    blocks.iter().for_each(|block| compress(&mut state, block));
    let mut tail = [0; 128];
    tail[..rest.len()].copy_from_slice(rest);
    tail[rest.len()] = 0x80;
    let tail_len = if rest.len() < 56 { 64 } else { 128 };
    tail[tail_len - 8..tail_len].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    tail[..tail_len].as_chunks::<64>().0.iter().for_each(|block| compress(&mut state, block));
    let mut digest = [0; 32];
    for (place, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *place = word.to_be_bytes();
    }
    digest
}

fn compress(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut schedule = [0u32; 64];
    for (word, bytes) in schedule.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..64 {
        let (w15, w2) = (schedule[t - 15], schedule[t - 2]);
        let s0 = w15.rotate_right(7) ^ w15.rotate_right(18) ^ (w15 >> 3);
        let s1 = w2.rotate_right(17) ^ w2.rotate_right(19) ^ (w2 >> 10);
        schedule[t] = schedule[t - 16].wrapping_add(s0).wrapping_add(schedule[t - 7]).wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (constant, word) in ROUNDS.iter().zip(schedule) {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(*constant).wrapping_add(word);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
        (d, c, b, a) = (c, b, a, t1.wrapping_add(s0.wrapping_add(majority)));
    }
    for (word, sum) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests of the examples of FIPS 180-4, and of lengths around the end of a block.
    #[test]
    fn known_digests() {
        let million = vec![b'a'; 1_000_000];
        let cases: [(&[u8], &str); 4] = [
            (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (&million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ];
        for (bytes, digest) in cases {
            let found = sha256_hex(bytes);
            assert_eq!(found, digest, "{} bytes", bytes.len());
        }
    }
}
