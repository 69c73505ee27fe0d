// SPDX-License-Identifier: AGPL-3.0-only

// A SOCKS5 proxy (RFC 1928) that keeps a known amount of each connection or association, needs a known amount of memory, or does a known
// amount of work while nothing goes on. Tests of left descriptors and of the scenarios footprint/… find the amount.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	mib = 1 << 20
	// leftMost is the memory that all connections and associations can leave behind.
	leftMost = 4 << 30
)

var (
	listen      = flag.String("listen", "", "address")
	bytes       = flag.Int("bytes", 0, "bytes that each connection leaves behind")
	descriptors = flag.Bool("descriptors", false, "each connection leaves a descriptor behind")
	threads     = flag.Bool("threads", false, "each connection leaves a thread behind")
	goroutines  = flag.Bool("goroutines", false, "each connection leaves a goroutine behind, whose stack of 128 KiB is almost full")
	farSockets  = flag.Bool("far-sockets", false, "the socket to the far end of each connection stays open")
	stepAt      = flag.Int("step-at", 0, "connection at which memory grows once by 50 MiB")
	teeth       = flag.Int("teeth", 0, "connections of a tooth, in which memory grows by 20 MiB and falls")
	needs       = flag.Int("needs", 0, "MiB that the proxy needs from its start on")
	udpBytes    = flag.Int("udp-bytes", 0, "bytes that each association leaves behind")
	holds       = flag.Int("holds", 0, "bytes that each tunnel and association holds while it is open")
	wakes       = flag.Int("wakes", 0, "a helper wakes so many times a second")
	burns       = flag.Duration("burns", 0, "CPU time that the helper uses each time")
	keepAlive   = flag.Bool("keep-alive", false, "each tunnel sends a datagram of 32 bytes each second")
	closesAfter = flag.Duration("closes-after", 0, "age at which a tunnel ends")
)

var kept struct {
	sync.Mutex
	count int
	// left is no memory of Go, whose allocator rounds each amount up.
	left   []byte
	used   int
	rules  []byte
	tooth  [][]byte
	needed []byte
	files  []*os.File
}

// touched is memory that is resident.
func touched(size int) []byte {
	memory := make([]byte, size)
	for at := 0; at < size; at += 512 {
		memory[at] = 1
	}
	return memory
}

// park never returns. Go doubles a stack until it fits, so that the frame takes one of 128 KiB.
func park() {
	var frame [120 << 10]byte
	wait(frame[:])
}

//go:noinline
func wait(memory []byte) {
	for {
		memory[0]++
		time.Sleep(time.Hour)
	}
}

// block holds a thread: a signal ends the system call, and not the thread.
func block() {
	for {
		_ = syscall.Pause()
	}
}

// leave leaves memory behind that is resident.
func leave(size int) {
	kept.Lock()
	defer kept.Unlock()
	take(size)
}

// take is leave while kept is locked.
func take(size int) {
	clear(kept.left[kept.used : kept.used+size])
	kept.used += size
}

// leavable is memory whose pages become resident when something is left there.
func leavable() []byte {
	memory, err := syscall.Mmap(-1, 0, leftMost, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err == nil {
		err = syscall.Madvise(memory, syscall.MADV_NOHUGEPAGE)
	}
	if err != nil {
		log.Fatal(err)
	}
	return memory
}

func keep() {
	kept.Lock()
	defer kept.Unlock()
	take(*bytes)
	kept.count++
	if *descriptors {
		file, err := os.Open(os.DevNull)
		if err != nil {
			log.Fatal(err)
		}
		kept.files = append(kept.files, file)
	}
	if *threads {
		go block()
	}
	if *goroutines {
		go park()
	}
	if kept.count == *stepAt {
		// On the heap, it would let Go collect garbage less often: a tooth longer than a run.
		take(50 * mib)
	}
	if *teeth > 0 {
		kept.tooth = append(kept.tooth, touched(20*mib / *teeth))
		if kept.count%*teeth == 0 {
			kept.tooth = nil
			debug.FreeOSMemory()
		}
	}
}

func main() {
	flag.Parse()
	// Little garbage between two collections: what is kept shows.
	debug.SetGCPercent(10)
	kept.needed = touched(*needs * mib)
	kept.left = leavable()
	if *wakes > 0 {
		helper(*wakes, *burns)
	}
	at := address()
	starts()
	for listener := listenOn(at); ; {
		client := listener.next()
		go func() {
			serve(client)
			listener.ended(client)
		}()
	}
}

// helper starts a program that sleeps between steady moments, and uses some CPU time after each. Go's own threads wake for a timer more
// than once.
func helper(perSecond int, each time.Duration) {
	program := exec.Command("python3", "-c", `
import sys, time
step, burn, due, used = 1 / int(sys.argv[1]), float(sys.argv[2]), time.monotonic(), time.process_time()
while True:
    due += step
    used += burn
    time.sleep(max(1e-6, due - time.monotonic()))
    while time.process_time() < used:
        pass
`, strconv.Itoa(perSecond), fmt.Sprint(each.Seconds()))
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := program.Start(); err != nil {
		log.Fatal(err)
	}
}

var (
	aliveOnce sync.Once
	aliveFrom *net.UDPConn
	tunnels   atomic.Int64
)

// alive sends a datagram to the far end each second until the tunnel ends. It gets no answer. The tunnels' moments are spread over the second.
func alive(to net.Addr, ended <-chan struct{}) {
	aliveOnce.Do(func() { aliveFrom, _ = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}) })
	address := to.(*net.TCPAddr)
	time.Sleep(time.Duration(tunnels.Add(1)%50) * time.Second / 50)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
			_, _ = aliveFrom.WriteToUDP(make([]byte, 32), &net.UDPAddr{IP: address.IP, Port: address.Port})
		}
	}
}

func serve(client net.Conn) {
	defer client.Close()
	buffer := make([]byte, 512)
	// Greeting: version, number of methods, methods.
	if _, err := io.ReadFull(client, buffer[:2]); err != nil {
		return
	}
	if _, err := io.ReadFull(client, buffer[:buffer[1]]); err != nil {
		return
	}
	_, _ = client.Write([]byte{5, 0})
	command, target := request(client, buffer)
	if target == "" {
		return
	}
	if command == 3 {
		associate(client)
		return
	}
	keep()
	far, err := net.Dial("tcp", target)
	if err != nil {
		_, _ = client.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	if !*farSockets {
		defer far.Close()
	}
	held := touched(*holds)
	defer runtime.KeepAlive(held)
	ended := make(chan struct{})
	defer close(ended)
	if *keepAlive {
		go alive(far.RemoteAddr(), ended)
	}
	if *closesAfter > 0 {
		time.AfterFunc(*closesAfter, func() {
			_ = client.Close()
			if !*farSockets {
				_ = far.Close()
			}
		})
	}
	_, _ = client.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	go func() {
		hold(io.Copy(far, client))
		if *farSockets {
			_ = client.Close()
			return
		}
		_ = far.(*net.TCPConn).CloseWrite()
	}()
	hold(io.Copy(client, far))
}

func addressOf(octets []byte) *net.UDPAddr {
	return &net.UDPAddr{IP: net.IP(octets[:4]), Port: int(binary.BigEndian.Uint16(octets[4:6]))}
}

// associate relays datagrams until the control connection ends, and longer if the configuration has an idle time.
func associate(control net.Conn) {
	loopback := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	near, err := net.ListenUDP("udp4", loopback)
	if err != nil {
		return
	}
	defer near.Close()
	far, err := net.ListenUDP("udp4", loopback)
	if err != nil {
		return
	}
	defer far.Close()
	leave(*udpBytes)
	held := touched(*holds)
	defer runtime.KeepAlive(held)
	port := near.LocalAddr().(*net.UDPAddr).Port
	_, _ = control.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, byte(port >> 8), byte(port)})
	var client *net.UDPAddr
	var known sync.Mutex
	go func() {
		datagram := make([]byte, 2048)
		for {
			size, from, err := near.ReadFromUDP(datagram)
			if err != nil {
				return
			}
			known.Lock()
			client = from
			known.Unlock()
			if size > 10 {
				_, _ = far.WriteToUDP(datagram[10:size], addressOf(datagram[4:10]))
			}
		}
	}()
	go func() {
		datagram := make([]byte, 2048)
		for {
			size, from, err := far.ReadFromUDP(datagram[10:])
			if err != nil {
				return
			}
			copy(datagram, []byte{0, 0, 0, 1})
			copy(datagram[4:8], from.IP.To4())
			binary.BigEndian.PutUint16(datagram[8:10], uint16(from.Port))
			known.Lock()
			to := client
			known.Unlock()
			_, _ = near.WriteToUDP(datagram[:size+10], to)
		}
	}()
	_, _ = io.Copy(io.Discard, control)
	time.Sleep(udpTimeout)
}
