use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::json;

use super::{connect, faulty, start};
use crate::echo::bulk::{Checker, Header, Source, confirmed};
use crate::probe::spec::Direction;

fn transfer(stream: &TcpStream, direction: Direction, bytes: u64) -> Checker {
    let header = Header {
        direction,
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
        assert_eq!(echo.state().counted.tcp_bytes, moved, "{engine}");
    }
}

#[test]
fn transfers_keep_the_rate() {
    let echo = faulty(json!({"rate_bytes_per_s": 1_000_000}));
    for (direction, expected) in [
        (Direction::Up, 1000),
        (Direction::Down, 1000),
        (Direction::Both, 2000),
    ] {
        let stream = connect(&echo);
        let began = Instant::now();
        transfer(&stream, direction, 1_000_000);
        let took = began.elapsed().as_millis();
        assert!(
            (expected * 97 / 100..expected * 110 / 100).contains(&took),
            "{direction:?}: {took} ms"
        );
    }
}
