//! RustCrypto: Rust with intrinsics if the CPU has them. Otherwise, or with `--cfg`, it is portable Rust.

use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use chacha20poly1305::ChaCha20Poly1305;

use super::{Aead, Cipher, Nonce, Tag};

struct RustCrypto<C>(C);

impl<C> Aead for RustCrypto<C>
where
    C: AeadInOut,
    aes_gcm::aead::Nonce<C>: From<Nonce>,
    aes_gcm::aead::Tag<C>: From<Tag> + Into<Tag>,
{
    fn seal(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8]) -> Tag {
        self.0
            .encrypt_inout_detached(&(*nonce).into(), aad, buffer.into())
            .expect("shorter than the cipher's limit")
            .into()
    }

    fn open(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8], tag: &Tag) -> bool {
        self.0
            .decrypt_inout_detached(&(*nonce).into(), aad, buffer.into(), &(*tag).into())
            .is_ok()
    }
}

pub fn with_key(cipher: Cipher, key: &[u8]) -> Box<dyn Aead> {
    const LENGTH: &str = "the cipher's length";
    match cipher {
        Cipher::Aes128Gcm => Box::new(RustCrypto(Aes128Gcm::new_from_slice(key).expect(LENGTH))),
        Cipher::Aes256Gcm => Box::new(RustCrypto(Aes256Gcm::new_from_slice(key).expect(LENGTH))),
        Cipher::ChaCha20Poly1305 => Box::new(RustCrypto(
            ChaCha20Poly1305::new_from_slice(key).expect(LENGTH),
        )),
    }
}
