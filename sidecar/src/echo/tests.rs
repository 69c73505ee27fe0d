use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::busy::Watch;

mod transfers;

const PATIENCE: Duration = Duration::from_secs(20);

fn start(request: Value) -> Echo {
    let request: Request = serde_json::from_value(request).unwrap();
    Echo::start(request).unwrap_or_else(|failure| panic!("{failure}"))
}

fn faulty(faults: Value) -> Echo {
    start(json!({"faults": faults}))
}

fn connect(echo: &Echo) -> TcpStream {
    let stream = TcpStream::connect(echo.tcp).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn udp(echo: &Echo) -> UdpSocket {
    let local = SocketAddr::new(echo.udp.ip(), 0);
    let socket = UdpSocket::bind(local).unwrap();
    socket.connect(echo.udp).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

fn round_trip(stream: &mut TcpStream, request: &[u8]) -> std::io::Result<Vec<u8>> {
    stream.write_all(request)?;
    let mut answer = vec![0; request.len()];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}

/// Sends `count` numbered datagrams, a few at a time, and returns the numbers that came back.
fn numbers(echo: &Echo, count: u32) -> Vec<u32> {
    let socket = udp(echo);
    let mut got = Vec::new();
    let mut buffer = [0; 16];
    let began = Instant::now();
    for number in 0..count {
        socket.send(&number.to_be_bytes()).unwrap();
        if number % 20 == 19 {
            // All answers but the held one are back by then. The held answer follows 50 ms later.
            let last = number + 1 == count;
            let quiet = Duration::from_millis(if last { 300 } else { 1 });
            socket.set_read_timeout(Some(quiet)).unwrap();
            // A busy machine may run the server late.
            let all_back = |got: usize| {
                let counted = echo.state().counted;
                counted.udp_received.load(Relaxed) >= u64::from(count)
                    && counted.udp_sent.load(Relaxed) <= got as u64
            };
            loop {
                while let Ok(4) = socket.recv(&mut buffer) {
                    got.push(u32::from_be_bytes(buffer[..4].try_into().unwrap()));
                }
                if !last || all_back(got.len()) || began.elapsed() > PATIENCE {
                    break;
                }
            }
        }
    }
    got
}

#[test]
fn what_comes_goes_back_whatever_the_engine() {
    for engine in ["blocking", "events"] {
        for (host, wait) in [
            ("127.0.0.1", "block"),
            ("::1", "block"),
            ("127.0.0.1", "yield"),
        ] {
            let echo = start(json!({"host": host, "engine": engine, "wait": wait}));
            let mut stream = connect(&echo);
            for size in [1, 8, 17, 1024, 300_000] {
                let request: Vec<u8> = (0..size).map(|at| (at * 7) as u8).collect();
                let mut sender = stream.try_clone().unwrap();
                let sent = request.clone();
                let thread = std::thread::spawn(move || sender.write_all(&sent).unwrap());
                let mut answer = vec![0; size];
                stream.read_exact(&mut answer).unwrap();
                thread.join().unwrap();
                assert!(answer == request, "{engine} {host} {size}");
            }
            let socket = udp(&echo);
            let mut buffer = [0; 65_536];
            for size in [0, 1, 1024, 65_000] {
                socket.send(&vec![size as u8; size]).unwrap();
                assert_eq!(socket.recv(&mut buffer).unwrap(), size);
            }
            let state = echo.state();
            assert_eq!(state.counted.tcp_connections.load(Relaxed), 1);
            assert_eq!(state.counted.tcp_bytes.load(Relaxed), 301_050);
            assert_eq!(
                (
                    state.counted.udp_received.load(Relaxed),
                    state.counted.udp_sent.load(Relaxed)
                ),
                (4, 4)
            );
            assert!(state.cpu_s > 0.0);
            // Connections are still open.
            echo.stop();
            assert!(echo.state().cpu_s >= state.cpu_s);
            assert!(matches!(stream.read(&mut buffer), Ok(0) | Err(_)));
        }
    }
}

#[test]
fn loss_and_duplication_are_exact() {
    for share in [0.01, 0.1] {
        let echo = faulty(json!({"loss": share}));
        let lost = (share * 1000.0) as usize;
        assert_eq!(numbers(&echo, 1000).len(), 1000 - lost);
        assert_eq!(echo.state().counted.dropped.load(Relaxed), lost as u64);
        let echo = faulty(json!({"duplicate": share, "seed": 7}));
        assert_eq!(numbers(&echo, 1000).len(), 1000 + lost);
        assert_eq!(echo.state().counted.duplicated.load(Relaxed), lost as u64);
    }
}

#[test]
fn reordering_holds_exactly_so_many_back() {
    let echo = faulty(json!({"reorder": 0.05}));
    let got = numbers(&echo, 1000);
    assert_eq!(got.len(), 1000);
    let mut highest = 0;
    let late = got.iter().filter(|number| {
        let late = **number < highest;
        highest = highest.max(**number);
        late
    });
    let late = late.count() as u64;
    assert_eq!(echo.state().counted.reordered.load(Relaxed), 50);
    // A held datagram without successors for 50 ms arrives in order.
    assert!((45..=50).contains(&late), "{late}");
}

/// Asserts a duration in ms: each try takes at least `least`, and one of several tries takes less than `most`. Other programs on the
/// machine only add to a duration. So if they kept the machine busy, no try has to be that short.
fn in_time(least: u128, most: u128, mut took: impl FnMut() -> u128) {
    let others = Watch::others();
    let mut all = Vec::new();
    while all.len() < 8 {
        let ms = took();
        assert!(ms >= least, "{ms} ms, at least {least}");
        if ms < most {
            return;
        }
        all.push(ms);
    }
    let others = others.end();
    let late = format!("{all:?} ms, none less than {most}");
    assert!(others.busy, "{late}");
    let _ = writeln!(std::io::stderr(), "skipped: {others}: {late}");
}

#[test]
fn delay_and_jitter_are_what_was_asked() {
    let echo = faulty(json!({"delay_ms": 100, "jitter_ms": 100}));
    let mut stream = connect(&echo);
    let socket = udp(&echo);
    let mut buffer = [0; 16];
    let mut answers = 0;
    let mut shortest = u128::MAX;
    // The longest of all answers.
    in_time(100, 220, || {
        let mut longest = 0;
        for _ in 0..8 {
            let began = Instant::now();
            round_trip(&mut stream, b"request").unwrap();
            let tcp = began.elapsed().as_millis();
            let began = Instant::now();
            socket.send(b"request").unwrap();
            socket.recv(&mut buffer).unwrap();
            let udp = began.elapsed().as_millis();
            shortest = shortest.min(tcp).min(udp);
            longest = longest.max(tcp).max(udp);
            answers += 2;
        }
        longest
    });
    assert!(shortest >= 100, "{shortest} ms");
    assert_eq!(echo.state().counted.delayed.load(Relaxed), answers);
}

#[test]
fn a_stall_holds_everything_once() {
    in_time(500, 550, || {
        let echo = faulty(json!({"stall": {"after": 3, "ms": 500}}));
        let mut stream = connect(&echo);
        let mut took = |request: &[u8]| {
            let began = Instant::now();
            round_trip(&mut stream, request).unwrap();
            began.elapsed().as_millis()
        };
        let times: Vec<u128> = (0..6).map(|_| took(b"request")).collect();
        assert!(times[3] >= 500, "{times:?}");
        let others: u128 = times.iter().sum::<u128>() - times[3];
        // The other answers are not held. On a quiet machine they take almost no time.
        times[3] + others
    });
}

#[test]
fn a_rate_is_kept() {
    in_time(970, 1100, || {
        let echo = faulty(json!({"rate_bytes_per_s": 1_000_000}));
        let mut stream = connect(&echo);
        let began = Instant::now();
        for _ in 0..50 {
            round_trip(&mut stream, &[1; 20_000]).unwrap();
        }
        began.elapsed().as_millis()
    });
}

#[test]
fn tcp_faults_come_after_so_many_answers() {
    for (fault, expected) in [
        ("reset_after", ErrorKind::ConnectionReset),
        ("close_after", ErrorKind::UnexpectedEof),
    ] {
        let echo = faulty(json!({"tcp": {fault: 3}}));
        for _ in 0..2 {
            let mut stream = connect(&echo);
            for _ in 0..3 {
                round_trip(&mut stream, b"request").unwrap();
            }
            let error = round_trip(&mut stream, b"request").unwrap_err();
            assert_eq!(error.kind(), expected, "{fault}");
        }
    }
    let echo = faulty(json!({"tcp": {"silent": true}}));
    let mut stream = connect(&echo);
    let some = Some(Duration::from_millis(200));
    stream.set_read_timeout(some).unwrap();
    let error = round_trip(&mut stream, b"request").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

#[test]
fn corruption_and_truncation_are_visible() {
    let echo = faulty(json!({"corrupt": 0.5, "truncate": 10}));
    let socket = udp(&echo);
    let mut buffer = [0; 64];
    let mut wrong = 0;
    for _ in 0..1000 {
        socket.send(&[7; 64]).unwrap();
        assert_eq!(socket.recv(&mut buffer).unwrap(), 10);
        wrong += usize::from(buffer[..10] != [7; 10]);
    }
    assert_eq!(wrong, 500);
    let echo = faulty(json!({"corrupt": 1}));
    let answer = round_trip(&mut connect(&echo), b"request").unwrap();
    assert_ne!(answer, b"request");
}

#[test]
fn the_events_engine_has_room_for_many_and_the_blocking_one_says_no() {
    let echo = start(json!({"engine": "events"}));
    let mut streams: Vec<TcpStream> = (0..600).map(|_| connect(&echo)).collect();
    for stream in &mut streams {
        assert_eq!(round_trip(stream, b"request").unwrap(), b"request");
    }
    assert_eq!(echo.state().counted.tcp_connections.load(Relaxed), 600);
    let echo = start(json!({"engine": "blocking"}));
    let mut streams: Vec<TcpStream> = (0..=blocking::MAX_CONNECTIONS)
        .map(|_| connect(&echo))
        .collect();
    let mut last = streams.pop().unwrap();
    for stream in &mut streams {
        round_trip(stream, b"request").unwrap();
    }
    assert!(round_trip(&mut last, b"request").is_err());
}

#[test]
fn what_cannot_be_served_is_refused() {
    let refused = |request: Value| {
        let request: Request = serde_json::from_value(request).unwrap();
        Echo::start(request).err().unwrap().error
    };
    assert!(refused(json!({"host": "192.0.2.1"})).starts_with("host:"));
    assert!(refused(json!({"cpus": [99_999]})).contains("99999"));
    assert!(refused(json!({"faults": {"loss": 2}})).starts_with("faults.loss"));
}

#[test]
fn what_is_held_for_later_is_bounded() {
    let echo = faulty(json!({"delay_ms": 5_000}));
    let mut stream = connect(&echo);
    let pause = Duration::from_secs(1);
    stream.set_write_timeout(Some(pause)).unwrap();
    let chunk = vec![7; 1 << 20];
    let mut sent = 0;
    while sent < 256 << 20 {
        match stream.write(&chunk) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    assert!((64 << 20..256 << 20).contains(&sent), "{sent}");
    let socket = udp(&echo);
    for _ in 0..10 {
        socket.send(&[1; 100]).unwrap();
    }
    let began = Instant::now();
    while echo.state().counted.dropped.load(Relaxed) < 10 && began.elapsed() < pause {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(echo.state().counted.dropped.load(Relaxed), 10);
    // After the stall all answers go back, and the server reads the remaining bytes.
    let mut buffer = vec![0; 1 << 20];
    let mut got = 0;
    while got < sent {
        got += stream.read(&mut buffer).unwrap();
    }
    assert_eq!(got, sent);
}
