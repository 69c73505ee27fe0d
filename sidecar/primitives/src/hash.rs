//! SHA-256 and BLAKE3.

use std::hint::black_box;

use hex_literal::hex;
use sha2::Digest;

use crate::bench::{Case, Key, Suite};
use crate::{Error, SIZES, memory};

type Hash = [u8; 32];

/// One algorithm of one library.
#[derive(Clone, Copy)]
struct Implementation {
    algorithm: &'static str,
    name: &'static str,
    hash: fn(&[u8]) -> Hash,
}

fn ring_sha_256(message: &[u8]) -> Hash {
    let digest = ring::digest::digest(&ring::digest::SHA256, message);
    digest.as_ref().try_into().expect("32 bytes")
}

fn implementations() -> Vec<Implementation> {
    let ring = Implementation {
        algorithm: "sha-256",
        name: "ring",
        hash: ring_sha_256,
    };
    let sha2 = |name| Implementation {
        algorithm: "sha-256",
        name,
        hash: |message| sha2::Sha256::digest(message).into(),
    };
    let blake3 = |name| Implementation {
        algorithm: "blake3",
        name,
        hash: |message| blake3::hash(message).into(),
    };
    if crate::PORTABLE {
        vec![sha2("portable"), blake3("portable")]
    } else {
        vec![ring, sha2("rustcrypto"), blake3("blake3")]
    }
}

/// FIPS 180-4's examples, and BLAKE3's own test vectors, whose message repeats 0 to 250.
const KNOWN: [(&str, usize, Hash); 8] = [
    (
        "sha-256",
        0,
        hex!("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ),
    (
        "sha-256",
        3,
        hex!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ),
    (
        "sha-256",
        56,
        hex!("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ),
    (
        "sha-256",
        1_000_000,
        hex!("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ),
    (
        "blake3",
        0,
        hex!("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
    ),
    (
        "blake3",
        1024,
        hex!("42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"),
    ),
    (
        "blake3",
        2048,
        hex!("e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"),
    ),
    (
        "blake3",
        102_400,
        hex!("bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
    ),
];

/// The message of a known digest.
fn message(algorithm: &str, bytes: usize) -> Vec<u8> {
    match (algorithm, bytes) {
        ("sha-256", 3) => b"abc".to_vec(),
        ("sha-256", 56) => b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".to_vec(),
        ("sha-256", bytes) => vec![b'a'; bytes],
        (_, bytes) => (0..bytes).map(|index| (index % 251) as u8).collect(),
    }
}

fn check(implementations: &[Implementation]) -> Result<usize, Error> {
    let mut checked = 0;
    for implementation in implementations {
        for (algorithm, bytes, digest) in KNOWN {
            if algorithm != implementation.algorithm {
                continue;
            }
            if (implementation.hash)(&message(algorithm, bytes)) != digest {
                return Err(Error(format!(
                    "{algorithm} of {} does not give the known digest of {bytes} bytes; nothing was measured",
                    implementation.name
                )));
            }
            checked += 1;
        }
    }
    Ok(checked)
}

pub fn suite() -> Result<Suite, Error> {
    let mut suite = Suite {
        checked: check(&implementations())?,
        ..Suite::default()
    };
    for bytes in SIZES {
        if !crate::PORTABLE {
            suite.cases.push(memory::copy(bytes));
        }
        for implementation in implementations() {
            let Implementation {
                algorithm,
                name,
                hash,
            } = implementation;
            let key = Key::new(algorithm, "hash", name).of_bytes(bytes);
            let message = vec![7_u8; bytes];
            let case = Case::each(key, move || black_box(hash(black_box(&message))));
            suite.cases.push(case);
        }
    }
    Ok(suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_implementation_gives_the_known_digests() {
        assert_eq!(
            check(&implementations()).unwrap(),
            4 * implementations().len()
        );
    }

    #[test]
    fn an_implementation_that_errs_is_named() {
        let broken = Implementation {
            algorithm: "blake3",
            name: "broken",
            hash: |_| [0; 32],
        };
        let error = check(&[broken]).unwrap_err().to_string();
        assert!(error.contains("blake3 of broken"), "{error}");
    }
}
