//! Keys and sealing of Shadowsocks (SIP004, SIP022) and the key of Trojan.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use md5::{Digest, Md5};
use ring::aead::{Aad, Algorithm, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA1_FOR_LEGACY_USE_ONLY, KeyType, Salt};
use sha2::Sha224;

/// Bytes that a seal adds.
pub const TAG: usize = 16;
/// A block of AES, which an identity header is.
pub const BLOCK: usize = 16;

/// A session's key with its next nonce, which counts up from 0, little endian.
pub struct Sealer {
    key: LessSafeKey,
    next: u128,
}

impl Sealer {
    fn new(algorithm: &'static Algorithm, subkey: &[u8]) -> Self {
        let key = UnboundKey::new(algorithm, subkey).expect("a key of its own length");
        Self {
            key: LessSafeKey::new(key),
            next: 0,
        }
    }

    /// The same with another first nonce, of [`NONCE_LEN`] bytes.
    pub fn with_nonce(self, nonce: &[u8]) -> Self {
        let mut next = [0; 16];
        next[..NONCE_LEN].copy_from_slice(nonce);
        let next = u128::from_le_bytes(next);
        Self { next, ..self }
    }

    fn nonce(&mut self) -> Nonce {
        let bytes = self.next.to_le_bytes();
        self.next += 1;
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&bytes[..NONCE_LEN]);
        Nonce::assume_unique_for_key(nonce)
    }

    /// Adds the sealed bytes to `out`.
    pub fn seal(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        let from = out.len();
        out.extend_from_slice(plain);
        let nonce = self.nonce();
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, Aad::empty(), &mut out[from..])
            .expect("far shorter than the longest message");
        out.extend_from_slice(tag.as_ref());
    }

    /// The plain bytes, or none if the seal is broken.
    pub fn open<'a>(&mut self, sealed: &'a mut [u8]) -> Option<&'a mut [u8]> {
        let nonce = self.nonce();
        self.key.open_in_place(nonce, Aad::empty(), sealed).ok()
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// The session of SIP004: HKDF-SHA1 of the key by the salt.
pub fn aead_session(algorithm: &'static Algorithm, key: &[u8], salt: &[u8]) -> Sealer {
    let mut subkey = vec![0; key.len()];
    Salt::new(HKDF_SHA1_FOR_LEGACY_USE_ONLY, salt)
        .extract(key)
        .expand(&[b"ss-subkey"], Length(key.len()))
        .and_then(|made| made.fill(&mut subkey))
        .expect("a length that HKDF can make");
    Sealer::new(algorithm, &subkey)
}

fn derived(context: &str, key: &[u8], salt: &[u8]) -> Vec<u8> {
    let whole = blake3::derive_key(context, &[key, salt].concat());
    whole[..key.len()].to_vec()
}

/// The session of SIP022.
pub fn session_2022(algorithm: &'static Algorithm, key: &[u8], salt: &[u8]) -> Sealer {
    let subkey = derived("shadowsocks 2022 session subkey", key, salt);
    Sealer::new(algorithm, &subkey)
}

/// A block, encrypted by AES with a key of 16 or 32 bytes.
pub fn encrypted(key: &[u8], mut block: [u8; BLOCK]) -> [u8; BLOCK] {
    let into = (&mut block).into();
    match key.len() {
        BLOCK => aes::Aes128::new_from_slice(key)
            .expect("16 bytes")
            .encrypt_block(into),
        _ => aes::Aes256::new_from_slice(key)
            .expect("32 bytes")
            .encrypt_block(into),
    }
    block
}

pub fn decrypted(key: &[u8], mut block: [u8; BLOCK]) -> [u8; BLOCK] {
    let into = (&mut block).into();
    match key.len() {
        BLOCK => aes::Aes128::new_from_slice(key)
            .expect("16 bytes")
            .decrypt_block(into),
        _ => aes::Aes256::new_from_slice(key)
            .expect("32 bytes")
            .decrypt_block(into),
    }
    block
}

/// By which SIP023 knows a user.
pub fn hash_of(key: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block.copy_from_slice(&blake3::hash(key).as_bytes()[..BLOCK]);
    block
}

/// The identity header of SIP023: the hash of the user's key, encrypted by the server's key.
pub fn identity(server: &[u8], salt: &[u8], user: &[u8]) -> [u8; BLOCK] {
    let subkey = derived("shadowsocks 2022 identity subkey", server, salt);
    encrypted(&subkey, hash_of(user))
}

/// OpenSSL's EVP_BytesToKey with MD5 and no salt, as SIP004 makes keys of passwords.
pub fn password_key(password: &str, length: usize) -> Vec<u8> {
    let (mut key, mut last) = (Vec::new(), Vec::new());
    while key.len() < length {
        last.extend_from_slice(password.as_bytes());
        last = Md5::digest(&last).to_vec();
        key.extend_from_slice(&last);
    }
    key.truncate(length);
    key
}

/// The hexadecimal SHA-224 by which Trojan knows a user.
pub fn trojan_key(password: &str) -> String {
    let hash = Sha224::digest(password.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
