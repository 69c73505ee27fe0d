// SPDX-License-Identifier: AGPL-3.0-only

package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	startAfter = flag.Duration("start-after", 0, "time until it listens")
	startBusy  = flag.Duration("start-busy", 0, "CPU time of that")
	ruleBytes  = flag.Int("rule-bytes", 0, "memory of each rule of the configuration")
	reloads    = flag.String("reload", "", "what SIGHUP does to open connections: drop, keep, silent (open, but nothing goes through), or several, such as drop,keep: the connections take turns; empty: SIGHUP ends the program")
	refuses    = flag.Duration("refuses", 0, "time without a listener after SIGHUP")
)

// configured is what a configuration of sing-box says. Its rules must be inline.
type configured struct {
	Inbounds []struct {
		Port int `json:"listen_port"`
	} `json:"inbounds"`
	Route struct {
		Rules []struct {
			Domains  []string `json:"domain_suffix"`
			Networks []string `json:"ip_cidr"`
			Timeout  string   `json:"udp_timeout"`
		} `json:"rules"`
	} `json:"route"`
}

// udpTimeout is how long an association lives on after its control connection has ended.
var udpTimeout time.Duration

// address is where it listens: -listen, or what follows -c or --config in the arguments of sing-box.
func address() string {
	if flag.Arg(0) == "version" {
		fmt.Println("leaky version 1")
		os.Exit(0)
	}
	at := max(slices.Index(flag.Args(), "-c"), slices.Index(flag.Args(), "--config"))
	if at < 0 {
		return *listen
	}
	text, err := os.ReadFile(flag.Arg(at + 1))
	if err != nil {
		log.Fatal(err)
	}
	var config configured
	if err := json.Unmarshal(text, &config); err != nil {
		log.Fatal(err)
	}
	rules := 0
	for _, rule := range config.Route.Rules {
		rules += len(rule.Domains) + len(rule.Networks)
		if rule.Timeout != "" {
			if udpTimeout, err = time.ParseDuration(rule.Timeout); err != nil {
				log.Fatal(err)
			}
		}
	}
	kept.rules = touched(rules * *ruleBytes)
	return fmt.Sprintf("127.0.0.1:%d", config.Inbounds[0].Port)
}

// starts takes as long as -start-after and -start-busy say.
func starts() {
	began, used := time.Now(), cpuTime()
	for cpuTime()-used < *startBusy {
	}
	time.Sleep(*startAfter - time.Since(began))
}

func cpuTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		log.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// reloadable is a listener that SIGHUP closes and opens again.
type reloadable struct {
	sync.Mutex
	address string
	net.Listener
	open map[net.Conn]bool
}

func listenOn(address string) *reloadable {
	r := &reloadable{address: address, open: map[net.Conn]bool{}}
	r.listen()
	if *reloads != "" {
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		go func() {
			for range hangups {
				r.reload()
			}
		}()
	}
	return r
}

func (r *reloadable) listen() {
	listener, err := net.Listen("tcp", r.address)
	if err != nil {
		log.Fatal(err)
	}
	r.Listener = listener
}

func (r *reloadable) reload() {
	r.Lock()
	defer r.Unlock()
	fates, turn := strings.Split(*reloads, ","), 0
	for client := range r.open {
		switch fates[turn%len(fates)] {
		case "drop":
			_ = client.Close()
			delete(r.open, client)
		case "silent":
			_ = client.SetDeadline(time.Now())
		}
		turn++
	}
	if *refuses > 0 {
		_ = r.Close()
		time.Sleep(*refuses)
		r.listen()
	}
}

// hold never returns if a reload has silenced the tunnel.
func hold(_ int64, err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		select {}
	}
}

// next is a new connection. While there is no listener, it waits.
func (r *reloadable) next() net.Conn {
	for {
		r.Lock()
		listener := r.Listener
		r.Unlock()
		client, err := listener.Accept()
		if err != nil {
			continue
		}
		r.Lock()
		r.open[client] = true
		r.Unlock()
		return client
	}
}

func (r *reloadable) ended(client net.Conn) {
	r.Lock()
	delete(r.open, client)
	r.Unlock()
}

// request reads version, command, reserved, kind of address, address, port. The address is IPv4 or a name; empty: neither.
func request(client net.Conn, buffer []byte) (command byte, target string) {
	if _, err := io.ReadFull(client, buffer[:5]); err != nil {
		return 0, ""
	}
	length := 4
	switch buffer[3] {
	case 1:
	case 3:
		length = 1 + int(buffer[4])
	default:
		return 0, ""
	}
	// The first byte of the address has been read.
	if _, err := io.ReadFull(client, buffer[5:4+length+2]); err != nil {
		return 0, ""
	}
	if buffer[3] == 1 {
		return buffer[1], addressOf(buffer[4:10]).String()
	}
	port := binary.BigEndian.Uint16(buffer[4+length:])
	return buffer[1], fmt.Sprintf("%s:%d", buffer[5:4+length], port)
}
