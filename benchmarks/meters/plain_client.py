"""A plain Python client: round trips over blocking sockets, through SOCKS5 or direct.

plain_client.py tcp|udp TARGET_PORT PROXY_PORT|0 COUNT PAYLOAD_BYTES WINDOW
It prints one JSON object: seconds of the load, p50_us, p99_us, cpu_us per round trip, lost.
"""

import json
import socket
import struct
import sys
import time

HOST = "127.0.0.1"


def read(stream: socket.socket, length: int) -> bytes:
    got = b""
    while len(got) < length:
        part = stream.recv(length - len(got))
        if not part:
            sys.exit("the connection was closed")
        got += part
    return got


def ask(proxy: int, command: int, port: int) -> tuple[socket.socket, int]:
    """A SOCKS5 request (RFC 1928) without authentication: control connection, and port of the reply."""
    stream = socket.create_connection((HOST, proxy))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.sendall(b"\x05\x01\x00")
    read(stream, 2)
    stream.sendall(struct.pack("!BBBB4sH", 5, command, 0, 1, socket.inet_aton(HOST), port))
    reply = read(stream, 10)
    if reply[1] != 0:
        sys.exit(f"the proxy refused: {reply[1]}")
    return stream, struct.unpack("!H", reply[8:])[0]


def tcp(target: int, proxy: int, count: int, payload: bytes) -> tuple[list[float], int]:
    if proxy:
        stream, _ = ask(proxy, 1, target)
    else:
        stream = socket.create_connection((HOST, target))
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = []
    for _ in range(count):
        start = time.perf_counter()
        stream.sendall(payload)
        if read(stream, len(payload)) != payload:
            sys.exit("the answer differs")
        times.append(time.perf_counter() - start)
    return times, 0


def udp(target: int, proxy: int, count: int, payload: bytes, window: int) -> tuple[list[float], int]:
    header = b""
    control = None
    port = target
    if proxy:
        control, port = ask(proxy, 3, 0)
        header = struct.pack("!HBB4sH", 0, 0, 1, socket.inet_aton(HOST), target)
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    link.settimeout(0.3)
    link.connect((HOST, port))
    sent: dict[int, float] = {}
    times: list[float] = []
    number = 0
    while number < count or sent:
        while number < count and len(sent) < window:
            sent[number] = time.perf_counter()
            link.send(header + struct.pack("!I", number) + payload[4:])
            number += 1
        try:
            answer = link.recv(65535)
        except TimeoutError:
            sent.clear()
            continue
        now = time.perf_counter()
        began = sent.pop(struct.unpack_from("!I", answer, len(header))[0], None)
        if began is not None and answer[len(header) + 4 :] == payload[4:]:
            times.append(now - began)
    if control:
        control.close()
    return times, count - len(times)


def main() -> None:
    kind = sys.argv[1]
    target, proxy, count, size, window = (int(text) for text in sys.argv[2:7])
    payload = bytes(index % 251 for index in range(size))
    cpu, start = time.process_time(), time.perf_counter()
    times, lost = (
        tcp(target, proxy, count, payload) if kind == "tcp" else udp(target, proxy, count, payload, window)
    )
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    times.sort()
    print(
        json.dumps(
            {
                "seconds": seconds,
                "p50_us": times[len(times) // 2] * 1e6,
                "p99_us": times[int(len(times) * 0.99)] * 1e6,
                "cpu_us": cpu / len(times) * 1e6,
                "lost": lost,
            }
        )
    )


if __name__ == "__main__":
    main()
