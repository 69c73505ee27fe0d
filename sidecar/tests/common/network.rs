//! Servers that answer, late, wrongly or not at all, and the proxy's side of SOCKS5.

use std::io::{Read, Write};
use std::net::{
    IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket,
};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// A connection never waits longer than this, so that a test's threads end.
const MAX: Duration = Duration::from_secs(60);

/// Serves each connection on a separate thread, until the test ends.
pub fn tcp_server(handle: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let handle = Arc::new(handle);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_read_timeout(Some(MAX));
            let _ = stream.set_nodelay(true);
            let handle = Arc::clone(&handle);
            thread::spawn(move || handle(stream));
        }
    });
    address
}

/// Echoes all bytes, each time after `delay`.
pub fn tcp_echo(delay: Duration) -> SocketAddr {
    tcp_server(move |stream| echo(stream, delay))
}

pub fn echo(mut stream: TcpStream, delay: Duration) {
    let mut bytes = vec![0; 256 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        thread::sleep(delay);
        if stream.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}

/// Hands each datagram, by its number, to `handle`.
pub fn udp_server(
    ip: IpAddr,
    mut handle: impl FnMut(&UdpSocket, u64, &[u8], SocketAddr) + Send + 'static,
) -> SocketAddr {
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut bytes = vec![0; 65_536];
        for number in 0.. {
            let Ok((count, peer)) = socket.recv_from(&mut bytes) else {
                return;
            };
            handle(&socket, number, &bytes[..count], peer);
        }
    });
    address
}

/// Echoes each datagram after `delay`, for any number on their way.
pub fn udp_echo(delay: Duration) -> SocketAddr {
    udp_server(Ipv4Addr::LOCALHOST.into(), move |socket, _, bytes, peer| {
        if delay.is_zero() {
            let _ = socket.send_to(bytes, peer);
            return;
        }
        let (socket, bytes) = (socket.try_clone().unwrap(), bytes.to_vec());
        thread::spawn(move || {
            thread::sleep(delay);
            let _ = socket.send_to(&bytes, peer);
        });
    })
}

/// A port without a listener.
pub fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

/// Ends a connection with a reset.
pub fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
}

/// Sends no bytes until the other end goes away.
pub fn silent(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    while let Ok(1..) = stream.read(&mut bytes) {}
}

pub fn read<const N: usize>(stream: &mut TcpStream) -> [u8; N] {
    let mut bytes = [0; N];
    // The thread ends with the connection.
    stream
        .read_exact(&mut bytes)
        .unwrap_or_else(|_| end_thread());
    bytes
}

pub fn read_vec(stream: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream
        .read_exact(&mut bytes)
        .unwrap_or_else(|_| end_thread());
    bytes
}

fn end_thread() -> ! {
    std::panic::resume_unwind(Box::new("the client went away"))
}

pub fn write(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// Reads a greeting and returns the methods that are offered.
pub fn greeting(stream: &mut TcpStream) -> Vec<u8> {
    let [version, count] = read(stream);
    assert_eq!(version, 5);
    read_vec(stream, count.into())
}

/// Reads a login.
pub fn login(stream: &mut TcpStream) -> (String, String) {
    let [version] = read(stream);
    assert_eq!(version, 1);
    let mut field = || {
        let [count] = read(stream);
        String::from_utf8(read_vec(stream, count.into())).unwrap()
    };
    (field(), field())
}

/// Reads a request and returns its command, and host and port as text.
pub fn request(stream: &mut TcpStream) -> (u8, String) {
    let [version, command, reserved, kind] = read(stream);
    assert_eq!((version, reserved), (5, 0));
    let host = match kind {
        1 => Ipv4Addr::from(read::<4>(stream)).to_string(),
        4 => format!("[{}]", Ipv6Addr::from(read::<16>(stream))),
        3 => {
            let [count] = read(stream);
            String::from_utf8(read_vec(stream, count.into())).unwrap()
        }
        other => panic!("address type {other}"),
    };
    let port = u16::from_be_bytes(read(stream));
    (command, format!("{host}:{port}"))
}

pub fn reply(code: u8, address: SocketAddr) -> Vec<u8> {
    let mut bytes = vec![5, code, 0];
    match address.ip() {
        IpAddr::V4(ip) => {
            bytes.push(1);
            bytes.extend(ip.octets());
        }
        IpAddr::V6(ip) => {
            bytes.push(4);
            bytes.extend(ip.octets());
        }
    }
    bytes.extend(address.port().to_be_bytes());
    bytes
}

pub fn any_address() -> SocketAddr {
    ([0, 0, 0, 0], 0).into()
}

/// A proxy that greets without a login and hands request and connection to `then`.
pub fn proxy(then: impl Fn(TcpStream, u8, String) + Send + Sync + 'static) -> SocketAddr {
    tcp_server(move |mut stream| {
        greeting(&mut stream);
        write(&mut stream, &[5, 0]);
        let (command, address) = request(&mut stream);
        then(stream, command, address);
    })
}

/// A SOCKS5 proxy that forwards bytes after a delay for each request for a tunnel. With `flip`, it changes one bit of this byte of each
/// tunnel's downward bytes.
pub fn relay(delay: Duration, flip: Option<usize>) -> SocketAddr {
    proxy(move |mut near, _, address| {
        let far = TcpStream::connect(&address).unwrap();
        std::thread::sleep(delay);
        write(&mut near, &reply(0, any_address()));
        let (from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut &from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
        let (mut bytes, mut passed) = (vec![0; 64 << 10], 0);
        while let Ok(count @ 1..) = (&far).read(&mut bytes) {
            if let Some(at) = flip.filter(|at| (passed..passed + count).contains(at)) {
                bytes[at - passed] ^= 1;
            }
            passed += count;
            if near.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = near.shutdown(Shutdown::Both);
    })
}

/// A proxy that is its own target: it grants each request, and echoes after a delay.
pub fn echo_proxy(delay: Duration) -> SocketAddr {
    proxy(move |mut stream, _, _| {
        write(&mut stream, &reply(0, any_address()));
        echo(stream, delay);
    })
}

/// A proxy that answers a UDP associate with `bound`, and keeps the control connection.
pub fn udp_proxy(bound: SocketAddr) -> SocketAddr {
    proxy(move |mut stream, command, _| {
        assert_eq!(command, 3);
        write(&mut stream, &reply(0, bound));
        silent(stream);
    })
}
