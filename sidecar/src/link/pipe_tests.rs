use super::*;
use crate::link::settings::Queue;

const MS: u64 = 1_000_000;

fn pipe(side: Side) -> Pipe {
    Pipe::new(side, 0, Fates::new(1, 0))
}

/// The packets that arrive until `until_ns`, with their times.
fn arrivals(pipe: &mut Pipe, until_ns: u64) -> Vec<(u64, usize)> {
    std::iter::from_fn(|| pipe.due(until_ns))
        .map(|(ns, bytes)| (ns, bytes.len()))
        .collect()
}

#[test]
fn a_packet_arrives_after_the_line_s_time_and_the_delay() {
    // 1,000 bytes at 8 Mbit/s take 1 ms.
    let mut pipe = pipe(Side {
        delay_ns: 10 * MS,
        rate_bit_s: Some(8_000_000),
        ..Side::default()
    });
    for _ in 0..3 {
        pipe.offer(5 * MS, &[0; 1_000]);
    }
    assert_eq!(pipe.next_ns(), Some(16 * MS));
    assert!(pipe.due(16 * MS - 1).is_none());
    let expected = [(16 * MS, 1_000), (17 * MS, 1_000), (18 * MS, 1_000)];
    assert_eq!(arrivals(&mut pipe, 100 * MS), expected);
    assert_eq!(pipe.next_ns(), None);
}

#[test]
fn the_rate_holds_however_late_it_is_asked() {
    // 1,500 bytes at 7 Mbit/s take no whole number of nanoseconds.
    let mut pipe = pipe(Side {
        rate_bit_s: Some(7_000_000),
        queue: Queue::Packets(1_000),
        ..Side::default()
    });
    for _ in 0..1_000 {
        pipe.offer(0, &[0; 1_500]);
    }
    let last = arrivals(&mut pipe, 10_000 * MS).last().unwrap().0;
    assert_eq!(last, 1_500 * 8 * 1_000_000_000_000 / 7_000_000);
}

#[test]
fn a_full_queue_drops_what_comes_last() {
    let mut pipe = pipe(Side {
        rate_bit_s: Some(8_000_000),
        queue: Queue::Bytes(3_000),
        ..Side::default()
    });
    for length in [1_000, 1_001, 999, 1, 1] {
        pipe.offer(0, &vec![0; length]);
    }
    assert_eq!(
        (pipe.counts.queue_dropped, pipe.counts.queued_bytes),
        (2, 3_000)
    );
    assert_eq!(pipe.counts.queued_bytes_most, 3_000);
    // 1 ms later the first packet has left, and the queue has room again.
    pipe.offer(MS, &[0; 1_000]);
    assert_eq!(pipe.counts.queue_dropped, 2);
    assert_eq!(arrivals(&mut pipe, 100 * MS).len(), 4);
    assert_eq!(pipe.counts.queued_bytes, 0);
}

#[test]
fn what_is_larger_than_the_queue_passes_an_empty_one() {
    let mut pipe = pipe(Side {
        rate_bit_s: Some(8_000_000),
        queue: Queue::Bytes(100),
        ..Side::default()
    });
    pipe.offer(0, &[0; 1_000]);
    pipe.offer(0, &[0; 1]);
    assert_eq!(pipe.counts.queue_dropped, 1);
    assert_eq!(arrivals(&mut pipe, MS).len(), 1);
}

#[test]
fn every_packet_is_accounted_for() {
    let mut pipe = pipe(Side {
        rate_bit_s: Some(8_000_000),
        queue: Queue::Packets(50),
        loss: 0.1,
        duplicate: 0.1,
        corrupt: 0.1,
        reorder: 0.1,
        ..Side::default()
    });
    for number in 0..5_000 {
        pipe.offer(number * MS * 9 / 10, &[0x45; 1_000]);
    }
    let arrived = arrivals(&mut pipe, 100_000 * MS).len() as u64;
    let counts = pipe.counts;
    assert!(
        counts.queue_dropped > 0 && counts.lost > 0 && counts.corrupted > 0,
        "{counts:?}"
    );
    assert_eq!(counts.sent, 5_000);
    assert_eq!(
        arrived + counts.queue_dropped + counts.lost,
        counts.sent + counts.duplicated
    );
    assert_eq!((counts.in_flight, counts.queued_packets), (0, 0));
}

#[test]
fn jitter_keeps_the_order_unless_it_may_not() {
    let side = Side {
        delay_ns: 20 * MS,
        jitter_ns: 10 * MS,
        ..Side::default()
    };
    let out_of_order = |side: Side| {
        let mut pipe = pipe(side);
        for number in 0..1_000_u64 {
            pipe.offer(number * MS, &[0; 100]);
        }
        let mut numbers = Vec::new();
        let mut last = 0;
        while let Some((ns, _)) = pipe.due(10_000 * MS) {
            assert!(ns >= last);
            numbers.push(ns);
            last = ns;
        }
        let spread = numbers.iter().enumerate();
        spread
            .map(|(number, ns)| ns - number as u64 * MS)
            .collect::<Vec<_>>()
    };
    let delays = out_of_order(side.clone());
    assert!(
        delays
            .iter()
            .all(|delay| (10 * MS..=30 * MS).contains(delay))
    );
    assert!(delays.iter().min() < delays.iter().max());

    let mut free = pipe(Side {
        jitter_reorders: true,
        ..side
    });
    for number in 0..100_u8 {
        free.offer(u64::from(number) * MS, &[number]);
    }
    let numbers: Vec<u8> = std::iter::from_fn(|| free.due(1_000 * MS))
        .map(|(_, bytes)| bytes[0])
        .collect();
    assert_eq!(numbers.len(), 100);
    assert!(!numbers.is_sorted());
}

#[test]
fn a_reordered_packet_comes_after_those_behind_it() {
    let mut pipe = pipe(Side {
        delay_ns: MS,
        reorder: 0.5,
        reorder_by_ns: 3 * MS,
        ..Side::default()
    });
    for number in 0..100_u8 {
        pipe.offer(u64::from(number) * MS, &[number]);
    }
    let numbers: Vec<u8> = std::iter::from_fn(|| pipe.due(1_000 * MS))
        .map(|(_, bytes)| bytes[0])
        .collect();
    assert!(!numbers.is_sorted() && pipe.counts.reordered > 20);
}

#[test]
fn a_dead_link_loses_what_comes_and_delivers_what_was_on_its_way() {
    let side = Side {
        delay_ns: 10 * MS,
        ..Side::default()
    };
    let mut pipe = pipe(side.clone());
    pipe.offer(0, &[1]);
    pipe.change(
        MS,
        Side {
            dead: true,
            ..side.clone()
        },
        0,
    );
    pipe.offer(2 * MS, &[2]);
    pipe.change(3 * MS, side, 0);
    pipe.offer(4 * MS, &[3]);
    assert_eq!(arrivals(&mut pipe, MS * 50), [(10 * MS, 1), (14 * MS, 1)]);
    assert_eq!(pipe.counts.dead, 1);
}

#[test]
fn what_waits_goes_on_at_the_new_rate() {
    let slow = Side {
        rate_bit_s: Some(8_000_000),
        queue: Queue::Packets(10),
        ..Side::default()
    };
    let mut pipe = pipe(slow.clone());
    for _ in 0..4 {
        pipe.offer(0, &[0; 1_000]);
    }
    let fast = Side {
        rate_bit_s: Some(80_000_000),
        ..slow
    };
    pipe.change(2 * MS, fast, 0);
    let expected: Vec<_> = [10, 20, 21, 22]
        .map(|tenth| (tenth * MS / 10, 1_000))
        .into();
    assert_eq!(arrivals(&mut pipe, 100 * MS), expected);
}

#[test]
fn one_bit_of_the_payload_is_turned_and_no_header() {
    let packet: Vec<u8> = [0x45].into_iter().chain([0; 59]).collect();
    for place in [0.0, 0.3, 0.999_999, 1.0] {
        let mut wrong = packet.clone();
        assert!(corrupt(&mut wrong, place));
        assert_eq!(wrong[..20], packet[..20]);
        let turned: u32 = wrong
            .iter()
            .zip(&packet)
            .map(|(a, b)| (a ^ b).count_ones())
            .sum();
        assert_eq!(turned, 1);
    }
    assert!(!corrupt(&mut [0x45; 20], 0.5));
}
