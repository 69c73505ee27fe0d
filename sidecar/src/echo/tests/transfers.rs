use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use serde_json::json;

use super::{connect, faulty, in_time, start};
use crate::echo::bulk::{Checker, Header, Source, confirmed};
use crate::echo::flow::BLOCK;
use crate::echo::transfer::Direction;

fn transfer(stream: &TcpStream, direction: Direction, bytes: u64) -> Checker {
    let header = Header {
        tag: 0,
        direction,
        every_byte: false,
        write_bytes: 5_000,
        bytes,
    };
    let mut checker = Checker::default();
    std::thread::scope(|scope| {
        let mut writer = stream;
        writer.write_all(&header.encode()).unwrap();
        if direction.up() {
            scope.spawn(move || {
                let mut source = Source::new(bytes, 10_000);
                while !source.done() {
                    let sent = writer.write(source.next()).unwrap();
                    source.written(sent);
                }
            });
        }
        let mut reader = stream;
        if direction.down() {
            let mut all = vec![0; bytes as usize];
            reader.read_exact(&mut all).unwrap();
            checker.take(&all);
            assert_eq!(checker.first_wrong(), None);
        }
        if direction.up() {
            let mut answer = [0; 8];
            reader.read_exact(&mut answer).unwrap();
            assert_eq!(confirmed(answer), Ok(bytes));
        }
    });
    checker
}

#[test]
fn each_byte_that_goes_up_is_checked_where_it_is_asked_for() {
    let bytes = 40_000;
    let mut source = Source::new(bytes, bytes as usize);
    let mut sent = source.next().to_vec();
    // This byte is not part of a block's number, and its block is not one of the sampled blocks.
    sent[5 * BLOCK + 500] ^= 0x40;
    for engine in ["blocking", "events"] {
        let echo = start(json!({"engine": engine}));
        for (every_byte, found) in [(true, Err(5 * BLOCK as u64)), (false, Ok(bytes))] {
            let mut stream = connect(&echo);
            let header = Header {
                tag: 0,
                direction: Direction::Up,
                every_byte,
                write_bytes: 5_000,
                bytes,
            };
            stream
                .write_all(&[&header.encode(), &sent[..]].concat())
                .unwrap();
            let mut answer = [0; 8];
            stream.read_exact(&mut answer).unwrap();
            let answered = confirmed(answer);
            let block = answered.map_err(|at| at - at % BLOCK as u64);
            assert_eq!(block, found, "{engine}, {every_byte}");
        }
    }
}

#[test]
fn transfers_are_whole_in_each_direction_one_after_the_other() {
    for engine in ["blocking", "events"] {
        let echo = start(json!({"engine": engine}));
        let stream = connect(&echo);
        let mut moved = 0;
        for direction in [Direction::Up, Direction::Down, Direction::Both] {
            for bytes in [1, 1_000_000] {
                transfer(&stream, direction, bytes);
                let both = direction == Direction::Both;
                moved += if both { 2 * bytes } else { bytes };
            }
        }
        assert_eq!(
            echo.state().counted.tcp_bytes.load(Relaxed),
            moved,
            "{engine}"
        );
    }
}

#[test]
fn transfers_keep_the_rate() {
    for (direction, expected) in [
        (Direction::Up, 1000),
        (Direction::Down, 1000),
        (Direction::Both, 2000),
    ] {
        in_time(expected * 97 / 100, expected * 110 / 100, || {
            let echo = faulty(json!({"rate_bytes_per_s": 1_000_000}));
            let stream = connect(&echo);
            let began = Instant::now();
            transfer(&stream, direction, 1_000_000);
            began.elapsed().as_millis()
        });
    }
}
