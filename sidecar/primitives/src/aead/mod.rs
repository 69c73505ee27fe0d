//! Authenticated encryption, in place and with a detached tag, as proxies use it.

mod ring;
mod rustcrypto;
mod vectors;

use std::hint::black_box;

use crate::bench::{Case, Key, Suite};
use crate::{Error, SIZES, memory};

pub const NONCE: usize = 12;
pub const TAG: usize = 16;

pub type Nonce = [u8; NONCE];
pub type Tag = [u8; TAG];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

impl Cipher {
    pub const ALL: [Self; 3] = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];

    pub fn name(self) -> &'static str {
        match self {
            Self::Aes128Gcm => "aes-128-gcm",
            Self::Aes256Gcm => "aes-256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
        }
    }

    pub fn key_bytes(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
        }
    }
}

/// One cipher with one key.
pub trait Aead {
    /// Encrypts the buffer and returns the tag.
    fn seal(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8]) -> Tag;
    /// Decrypts the buffer. Returns false if the tag is wrong; the buffer's content is then useless.
    fn open(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8], tag: &Tag) -> bool;
}

/// A library that implements ciphers.
#[derive(Clone, Copy)]
pub struct Implementation {
    pub name: &'static str,
    /// The key must have the cipher's length.
    pub with_key: fn(Cipher, &[u8]) -> Box<dyn Aead>,
}

/// The implementations in this build.
pub fn implementations() -> Vec<Implementation> {
    let ring = Implementation {
        name: "ring",
        with_key: ring::with_key,
    };
    let name = |name| Implementation {
        name,
        with_key: rustcrypto::with_key,
    };
    if crate::PORTABLE {
        vec![name("portable")]
    } else {
        vec![ring, name("rustcrypto")]
    }
}

fn aead(cipher: Cipher, implementation: Implementation) -> Box<dyn Aead> {
    let key: Vec<u8> = (0..cipher.key_bytes()).map(|index| index as u8).collect();
    (implementation.with_key)(cipher, &key)
}

fn message(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| index as u8).collect()
}

fn counted(message: u64) -> Nonce {
    let mut nonce = [0; NONCE];
    nonce[..8].copy_from_slice(&message.to_le_bytes());
    nonce
}

fn encrypt(cipher: Cipher, implementation: Implementation, bytes: usize) -> Case {
    let key = Key::new(cipher.name(), "encrypt", implementation.name).of_bytes(bytes);
    let aead = aead(cipher, implementation);
    let mut buffer = message(bytes);
    let mut sent = 0;
    Case::each(key, move || {
        sent += 1;
        black_box(aead.seal(&counted(sent), &[], black_box(&mut buffer)))
    })
}

/// Decrypts the same message repeatedly, in place, without restoring it. These ciphers add a key stream. So decrypting the plain text, with
/// the tag that it would have as a cipher text, yields the cipher text again.
fn decrypt(cipher: Cipher, implementation: Implementation, bytes: usize) -> Case {
    let key = Key::new(cipher.name(), "decrypt", implementation.name).of_bytes(bytes);
    let aead = aead(cipher, implementation);
    let nonce = counted(1);
    let plain = message(bytes);
    let mut buffer = plain.clone();
    let of_cipher_text = aead.seal(&nonce, &[], &mut buffer);
    let of_plain_text = aead.seal(&nonce, &[], &mut buffer);
    assert_eq!(buffer, plain);
    let mut tags = [of_plain_text, of_cipher_text];
    Case::each(key, move || {
        assert!(aead.open(&nonce, &[], black_box(&mut buffer), &tags[0]));
        tags.swap(0, 1);
    })
}

/// Checks the known answers and lists the cases. Cases to be compared are neighbours.
pub fn suite() -> Result<Suite, Error> {
    let mut suite = Suite {
        checked: vectors::check(&implementations())?,
        ..Suite::default()
    };
    for bytes in SIZES {
        if !crate::PORTABLE {
            suite.cases.push(memory::copy(bytes));
        }
        for case in [encrypt, decrypt] {
            for implementation in implementations() {
                for cipher in Cipher::ALL {
                    suite.cases.push(case(cipher, implementation, bytes));
                }
            }
        }
    }
    Ok(suite)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_implementations_agree(
            message in prop::collection::vec(any::<u8>(), 0..5000),
            aad in prop::collection::vec(any::<u8>(), 0..40),
            key in any::<[u8; 32]>(),
            nonce in any::<Nonce>(),
        ) {
            for cipher in Cipher::ALL {
                let key = &key[..cipher.key_bytes()];
                let sealed: Vec<_> = implementations()
                    .iter()
                    .map(|implementation| {
                        let mut buffer = message.clone();
                        let tag = (implementation.with_key)(cipher, key).seal(&nonce, &aad, &mut buffer);
                        (buffer, tag)
                    })
                    .collect();
                for (one, implementation) in sealed.iter().rev().zip(implementations()) {
                    let (mut buffer, tag) = one.clone();
                    prop_assert_eq!(one, &sealed[0]);
                    let aead = (implementation.with_key)(cipher, key);
                    prop_assert!(aead.open(&nonce, &aad, &mut buffer, &tag));
                    prop_assert_eq!(&buffer, &message);
                }
            }
        }

        #[test]
        fn a_wrong_tag_or_byte_is_refused(
            mut message in prop::collection::vec(any::<u8>(), 1..200),
            at in any::<prop::sample::Index>(),
        ) {
            for cipher in Cipher::ALL {
                for implementation in implementations() {
                    let aead = aead(cipher, implementation);
                    let mut tag = aead.seal(&counted(1), &[], &mut message);
                    let mut wrong = message.clone();
                    wrong[at.index(message.len())] ^= 1;
                    prop_assert!(!aead.open(&counted(1), &[], &mut wrong, &tag));
                    tag[at.index(TAG)] ^= 1;
                    prop_assert!(!aead.open(&counted(1), &[], &mut message.clone(), &tag));
                }
            }
        }
    }
}
