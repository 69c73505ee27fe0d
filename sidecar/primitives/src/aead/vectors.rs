//! Known answers: NIST's test vectors for AES-GCM and RFC 8439's for ChaCha20-Poly1305.

use super::{Cipher, Implementation, Nonce, Tag};
use crate::Error;
use hex_literal::hex;

struct Vector {
    source: &'static str,
    cipher: Cipher,
    key: &'static [u8],
    nonce: Nonce,
    aad: &'static [u8],
    plain: &'static [u8],
    sealed: &'static [u8],
    tag: Tag,
}

const GCM_PLAIN: &[u8] = &hex!(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
);
const GCM_AAD: &[u8] = &hex!("feedfacedeadbeeffeedfacedeadbeefabaddad2");

const VECTORS: [Vector; 7] = [
    Vector {
        source: "GCM specification for NIST, test case 2",
        cipher: Cipher::Aes128Gcm,
        key: &[0; 16],
        nonce: [0; 12],
        aad: &[],
        plain: &[0; 16],
        sealed: &hex!("0388dace60b6a392f328c2b971b2fe78"),
        tag: hex!("ab6e47d42cec13bdf53a67b21257bddf"),
    },
    Vector {
        source: "GCM specification for NIST, test case 4",
        cipher: Cipher::Aes128Gcm,
        key: &hex!("feffe9928665731c6d6a8f9467308308"),
        nonce: hex!("cafebabefacedbaddecaf888"),
        aad: GCM_AAD,
        plain: GCM_PLAIN,
        sealed: &hex!(
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
            "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
        ),
        tag: hex!("5bc94fbc3221a5db94fae95ae7121a47"),
    },
    Vector {
        source: "NIST CAVP gcmEncryptExtIV128, 128-bit plaintext and AAD, count 0",
        cipher: Cipher::Aes128Gcm,
        key: &hex!("c939cc13397c1d37de6ae0e1cb7c423c"),
        nonce: hex!("b3d8cc017cbb89b39e0f67e2"),
        aad: &hex!("24825602bd12a984e0092d3e448eda5f"),
        plain: &hex!("c3b3c41f113a31b73d9a5cd432103069"),
        sealed: &hex!("93fe7d9e9bfd10348a5606e5cafa7354"),
        tag: hex!("0032a1dc85f1c9786925a2e71d8272dd"),
    },
    Vector {
        source: "GCM specification for NIST, test case 14",
        cipher: Cipher::Aes256Gcm,
        key: &[0; 32],
        nonce: [0; 12],
        aad: &[],
        plain: &[0; 16],
        sealed: &hex!("cea7403d4d606b6e074ec5d3baf39d18"),
        tag: hex!("d0d1c8a799996bf0265b98b5d48ab919"),
    },
    Vector {
        source: "GCM specification for NIST, test case 16",
        cipher: Cipher::Aes256Gcm,
        key: &hex!("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"),
        nonce: hex!("cafebabefacedbaddecaf888"),
        aad: GCM_AAD,
        plain: GCM_PLAIN,
        sealed: &hex!(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
            "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
        ),
        tag: hex!("76fc6ece0f4e1768cddf8853bb2d551b"),
    },
    Vector {
        source: "NIST CAVP gcmEncryptExtIV256, 128-bit plaintext and AAD, count 0",
        cipher: Cipher::Aes256Gcm,
        key: &hex!("92e11dcdaa866f5ce790fd24501f92509aacf4cb8b1339d50c9c1240935dd08b"),
        nonce: hex!("ac93a1a6145299bde902f21a"),
        aad: &hex!("1e0889016f67601c8ebea4943bc23ad6"),
        plain: &hex!("2d71bcfa914e4ac045b2aa60955fad24"),
        sealed: &hex!("8995ae2e6df3dbf96fac7b7137bae67f"),
        tag: hex!("eca5aa77d51d4a0a14d9c51e1da474ab"),
    },
    Vector {
        source: "RFC 8439, section 2.8.2",
        cipher: Cipher::ChaCha20Poly1305,
        key: &hex!("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"),
        nonce: hex!("070000004041424344454647"),
        aad: &hex!("50515253c0c1c2c3c4c5c6c7"),
        plain: b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
        sealed: &hex!(
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
            "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
            "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
            "3ff4def08e4b7a9de576d26586cec64b6116"
        ),
        tag: hex!("1ae10b594f09e26a7e902ecbd0600691"),
    },
];

/// The number of checked answers: each vector, sealed and opened by each implementation.
pub fn check(implementations: &[Implementation]) -> Result<usize, Error> {
    for implementation in implementations {
        for vector in &VECTORS {
            let aead = (implementation.with_key)(vector.cipher, vector.key);
            let mut buffer = vector.plain.to_vec();
            let tag = aead.seal(&vector.nonce, vector.aad, &mut buffer);
            let sealed = buffer == vector.sealed && tag == vector.tag;
            let opened = aead.open(&vector.nonce, vector.aad, &mut buffer, &vector.tag)
                && buffer == vector.plain;
            if !sealed || !opened {
                return Err(Error(format!(
                    "{} of {} does not give the known answer of {}; nothing was measured",
                    vector.cipher.name(),
                    implementation.name,
                    vector.source
                )));
            }
        }
    }
    Ok(implementations.len() * VECTORS.len() * 2)
}

#[cfg(test)]
mod tests {
    use super::super::{Aead, implementations};
    use super::*;

    #[test]
    fn every_implementation_gives_the_known_answers() {
        let checked = check(&implementations()).unwrap();
        assert_eq!(checked, implementations().len() * 14);
    }

    #[test]
    fn an_implementation_that_errs_is_named() {
        struct Broken;
        impl Aead for Broken {
            fn seal(&self, _: &Nonce, _: &[u8], buffer: &mut [u8]) -> Tag {
                buffer.fill(0);
                [0; 16]
            }
            fn open(&self, _: &Nonce, _: &[u8], _: &mut [u8], _: &Tag) -> bool {
                true
            }
        }
        let broken = Implementation {
            name: "broken",
            with_key: |_, _| Box::new(Broken),
        };
        let error = check(&[broken]).unwrap_err().to_string();
        assert!(error.contains("aes-128-gcm of broken"), "{error}");
    }
}
