package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
)

// RFC 1928.
const (
	version      = 5
	connect      = 1
	udpAssociate = 3

	noAuth       = 0
	noneAccepted = 0xff

	granted          = 0
	generalFailure   = 1
	refused          = 5
	commandUnknown   = 7
	addressUnknown   = 8
	ofIPv4, ofDomain = 1, 3
	ofIPv6           = 4
	pieceBytes       = 64 << 10
	udpBytes         = 64 << 10
)

var unspecified = netip.AddrPortFrom(netip.IPv4Unspecified(), 0)

func attend(client *net.TCPConn, fault fault) {
	defer client.Close()
	if err := greet(client); err != nil {
		return
	}
	command, target, err := ask(client)
	switch {
	case errors.Is(err, errAddress):
		reply(client, addressUnknown, unspecified)
	case err != nil:
	case command == connect:
		tunnel(client, target, fault)
	case command == udpAssociate:
		associate(client, fault)
	default:
		reply(client, commandUnknown, unspecified)
	}
}

func greet(client *net.TCPConn) error {
	var start [2]byte
	if _, err := io.ReadFull(client, start[:]); err != nil {
		return err
	}
	methods := make([]byte, start[1])
	if _, err := io.ReadFull(client, methods); err != nil {
		return err
	}
	chosen := byte(noneAccepted)
	for _, method := range methods {
		if start[0] == version && method == noAuth {
			chosen = noAuth
		}
	}
	if _, err := client.Write([]byte{version, chosen}); err != nil {
		return err
	}
	if chosen != noAuth {
		return errors.New("no method in common")
	}
	return nil
}

var errAddress = errors.New("an unknown type of address")

func ask(client io.Reader) (command byte, target string, err error) {
	var start [3]byte
	if _, err := io.ReadFull(client, start[:]); err != nil {
		return 0, "", err
	}
	target, err = address(client)
	return start[1], target, err
}

// address reads an address with its type in front and its port behind.
func address(from io.Reader) (string, error) {
	var kind [1]byte
	if _, err := io.ReadFull(from, kind[:]); err != nil {
		return "", err
	}
	size := 0
	switch kind[0] {
	case ofIPv4:
		size = net.IPv4len
	case ofIPv6:
		size = net.IPv6len
	case ofDomain:
		var length [1]byte
		if _, err := io.ReadFull(from, length[:]); err != nil {
			return "", err
		}
		size = int(length[0])
	default:
		return "", errAddress
	}
	rest := make([]byte, size+2)
	if _, err := io.ReadFull(from, rest); err != nil {
		return "", err
	}
	host := string(rest[:size])
	if kind[0] != ofDomain {
		host = net.IP(rest[:size]).String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(rest[size:])))), nil
}

// appendAddress writes an address as address reads it.
func appendAddress(to []byte, address netip.AddrPort) []byte {
	ip := address.Addr().Unmap()
	kind := byte(ofIPv6)
	if ip.Is4() {
		kind = ofIPv4
	}
	to = append(append(to, kind), ip.AsSlice()...)
	return binary.BigEndian.AppendUint16(to, address.Port())
}

func reply(client io.Writer, code byte, bound netip.AddrPort) error {
	_, err := client.Write(appendAddress([]byte{version, code, 0}, bound))
	return err
}

func tunnel(client *net.TCPConn, target string, fault fault) {
	if fault.opened != nil {
		fault.opened()
	}
	if fault.alone {
		if reply(client, granted, unspecified) == nil {
			pass(client, client, fault.request, nil)
		}
		return
	}
	dialled, err := net.Dial("tcp", target)
	if err != nil {
		reply(client, refused, unspecified)
		return
	}
	far := dialled.(*net.TCPConn)
	defer far.Close()
	if reply(client, granted, far.LocalAddr().(*net.TCPAddr).AddrPort()) != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pass(client, far, fault.request, fault.upload) })
	both.Go(func() { pass(far, client, nil, fault.download) })
	both.Wait()
}

// pass carries payload until its end, and passes on the end.
func pass(from, to *net.TCPConn, passes func(), change func([]byte) []byte) {
	buffer := make([]byte, pieceBytes)
	for {
		count, err := from.Read(buffer)
		if err != nil {
			break
		}
		piece := buffer[:count]
		if passes != nil {
			passes()
		}
		if change != nil {
			piece = change(piece)
		}
		if _, err := to.Write(piece); err != nil {
			// The other direction ends, too.
			from.Close()
			break
		}
	}
	to.CloseWrite()
}

// associate relays datagrams for as long as the client's connection stands.
func associate(client *net.TCPConn, fault fault) {
	host := client.LocalAddr().(*net.TCPAddr).IP
	near, err := net.ListenUDP("udp", &net.UDPAddr{IP: host})
	if err != nil {
		reply(client, generalFailure, unspecified)
		return
	}
	defer near.Close()
	far, err := net.ListenUDP("udp", nil)
	if err != nil {
		reply(client, generalFailure, unspecified)
		return
	}
	defer far.Close()
	if reply(client, granted, near.LocalAddr().(*net.UDPAddr).AddrPort()) != nil {
		return
	}
	relay := relay{near: near, far: far, fault: fault, known: map[string]netip.AddrPort{}}
	go relay.up()
	io.Copy(io.Discard, client)
}

type relay struct {
	near, far *net.UDPConn
	fault     fault
	// known has the addresses of names, which are looked up once.
	known map[string]netip.AddrPort
}

func (relay *relay) up() {
	buffer := make([]byte, udpBytes)
	listens := false
	for {
		count, peer, err := relay.near.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		target, payload, err := unwrap(buffer[:count])
		if err != nil {
			continue
		}
		if relay.fault.request != nil {
			relay.fault.request()
		}
		if relay.fault.alone {
			relay.near.WriteToUDPAddrPort(buffer[:count], peer)
			continue
		}
		if !listens {
			listens = true
			go relay.down(peer)
		}
		if to, err := relay.resolve(target); err == nil {
			relay.far.WriteToUDPAddrPort(changed(payload, relay.fault.upload), to)
		}
	}
}

func (relay *relay) down(peer netip.AddrPort) {
	buffer := make([]byte, udpBytes)
	for {
		count, from, err := relay.far.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		payload := changed(buffer[:count], relay.fault.download)
		relay.near.WriteToUDPAddrPort(append(appendAddress([]byte{0, 0, 0}, from), payload...), peer)
	}
}

func (relay *relay) resolve(target string) (netip.AddrPort, error) {
	if known, found := relay.known[target]; found {
		return known, nil
	}
	resolved, err := net.ResolveUDPAddr("udp", target)
	if err != nil {
		return netip.AddrPort{}, err
	}
	relay.known[target] = resolved.AddrPort()
	return relay.known[target], nil
}

// changed leaves an empty datagram alone, because it has no bytes to change.
func changed(payload []byte, change func([]byte) []byte) []byte {
	if change == nil || len(payload) == 0 {
		return payload
	}
	return change(payload)
}

// unwrap takes off the header of a datagram that the client sent.
func unwrap(datagram []byte) (target string, payload []byte, err error) {
	rest := &reader{datagram}
	var start [3]byte
	if _, err := io.ReadFull(rest, start[:]); err != nil {
		return "", nil, err
	}
	if start[2] != 0 {
		return "", nil, fmt.Errorf("fragment %d", start[2])
	}
	target, err = address(rest)
	return target, rest.left, err
}

type reader struct{ left []byte }

func (reader *reader) Read(into []byte) (int, error) {
	if len(reader.left) == 0 {
		return 0, io.EOF
	}
	count := copy(into, reader.left)
	reader.left = reader.left[count:]
	return count, nil
}
