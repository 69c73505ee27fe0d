//! Buffers for the bytes of a connection: new, zeroed and pooled buffers; copied and borrowed headers.

use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::bench::{Bencher, Case, Key, Suite};
use crate::memory;

/// Sizes of a datagram, of a TLS record, and of a proxy's read buffer.
const SIZES: [usize; 3] = [2 << 10, 16 << 10, 64 << 10];
const POOL: usize = 64;
const PACKET: usize = 1500;
/// Size of SOCKS5's UDP header with an IPv4 address: reserved, fragment, type, address, port.
const HEADER: usize = 10;

fn fresh(bytes: usize) -> Vec<u8> {
    Vec::with_capacity(black_box(bytes))
}

/// Takes the buffer that was returned last: its bytes are still in the caches.
fn pooled(bencher: &mut Bencher<'_>, bytes: usize, mut with: impl FnMut(&mut Vec<u8>)) {
    let pool = Mutex::new(Vec::from_iter((0..POOL).map(|_| Vec::with_capacity(bytes))));
    let lock = || pool.lock().unwrap_or_else(PoisonError::into_inner);
    bencher.iter(|| {
        let mut buffer = lock().pop().unwrap_or_default();
        with(&mut buffer);
        lock().push(black_box(buffer));
    });
    assert_eq!(lock().len(), POOL);
}

fn write(buffer: &mut Vec<u8>, payload: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(black_box(payload));
}

fn allocate(bytes: usize) -> Vec<Case> {
    let payload: Arc<[u8]> = (0..bytes).map(|index| index as u8).collect();
    let again = Arc::clone(&payload);
    let take = |how| Key::new("buffer", "take", how).of_bytes(bytes);
    let fill = |how| Key::new("buffer", "take and fill", how).of_bytes(bytes);
    vec![
        memory::copy(bytes),
        Case::each(take("fresh"), move || drop(black_box(fresh(bytes)))),
        Case::each(take("fresh, zeroed"), move || {
            drop(black_box(vec![0_u8; black_box(bytes)]));
        }),
        Case::new(take("pooled"), move |bencher| {
            pooled(bencher, bytes, |buffer| {
                black_box(buffer);
            });
        }),
        Case::each(fill("fresh"), move || {
            let mut buffer = fresh(bytes);
            write(&mut buffer, &payload);
            drop(black_box(buffer));
        }),
        Case::new(fill("pooled"), move |bencher| {
            pooled(bencher, bytes, |buffer| write(buffer, &again));
        }),
    ]
}

fn headers() -> Vec<Case> {
    let packet: Bytes = (0..PACKET).map(|index| index as u8).collect();
    let (counted, copied) = (packet.clone(), packet.clone());
    let key = |how| Key::new("header", "take", how).of_bytes(HEADER);
    vec![
        Case::each(key("copied"), move || {
            black_box(black_box(&copied)[..black_box(HEADER)].to_vec())
        }),
        Case::each(key("shared (Bytes::slice)"), move || {
            black_box(black_box(&counted).slice(..black_box(HEADER)))
        }),
        Case::each(key("borrowed (slice)"), move || {
            black_box(&black_box(&packet)[..black_box(HEADER)]);
        }),
    ]
}

/// As large as a proxy's state per connection: addresses, counters, two halves of a cipher.
#[derive(Clone, Copy)]
struct State([u64; 32]);

fn state() -> Case {
    let key = Key::new("connection state", "take", "boxed").of_bytes(size_of::<State>());
    let state = State([1; 32]);
    Case::each(key, move || {
        let boxed = Box::new(black_box(state));
        black_box(boxed.0[3]);
        drop(black_box(boxed));
    })
}

pub fn suite() -> Suite {
    let mut cases: Vec<Case> = SIZES.into_iter().flat_map(allocate).collect();
    cases.extend(headers());
    cases.push(state());
    Suite {
        cases,
        ..Suite::default()
    }
}
