//! ring: assembly that detects the CPU's features at the start.

use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce as RingNonce, UnboundKey,
};

use super::{Aead, Cipher, Nonce, Tag};

struct Ring(LessSafeKey);

impl Aead for Ring {
    fn seal(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8]) -> Tag {
        let nonce = RingNonce::assume_unique_for_key(*nonce);
        self.0
            .seal_in_place_separate_tag(nonce, Aad::from(aad), buffer)
            .ok()
            .and_then(|tag| tag.as_ref().try_into().ok())
            .expect("shorter than the cipher's limit")
    }

    fn open(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8], tag: &Tag) -> bool {
        let nonce = RingNonce::assume_unique_for_key(*nonce);
        self.0
            .open_in_place_separate_tag(nonce, Aad::from(aad), (*tag).into(), buffer, 0..)
            .is_ok()
    }
}

pub fn with_key(cipher: Cipher, key: &[u8]) -> Box<dyn Aead> {
    let algorithm = match cipher {
        Cipher::Aes128Gcm => &AES_128_GCM,
        Cipher::Aes256Gcm => &AES_256_GCM,
        Cipher::ChaCha20Poly1305 => &CHACHA20_POLY1305,
    };
    let key = UnboundKey::new(algorithm, key).expect("the cipher's length");
    Box::new(Ring(LessSafeKey::new(key)))
}
