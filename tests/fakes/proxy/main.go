// Command fake-proxy is a SOCKS5 proxy with one known fault, for tests of the verdicts. It takes CONNECT and UDP ASSOCIATE without a password.
//
//	fake-proxy --listen 127.0.0.1:1080 --mode corrupt
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("fake-proxy: ")
	var asked options
	listen := flag.String("listen", "127.0.0.1:1080", "where it takes SOCKS5")
	flag.StringVar(&asked.mode, "mode", "honest", "its fault: "+strings.Join(modes(), ", "))
	flag.IntVar(&asked.bytes, "bytes", 0, "corrupt: payloads of at least so many bytes")
	flag.IntVar(&asked.oneIn, "one-in", 1, "corrupt: one of so many; 133 is 0.75 %")
	flag.IntVar(&asked.us, "us", 1000, "defer, slow-later: CPU of a request in microseconds")
	flag.IntVar(&asked.kib, "kib", 64, "leak: memory of a connection in KiB")
	flag.BoolVar(&asked.descriptor, "descriptor", false, "leak: a descriptor of each connection, too")
	flag.IntVar(&asked.after, "after", 100, "slow-later: requests that are fast")
	flag.Parse()
	fault, err := asked.fault()
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(serve(*listen, fault))
}

func serve(address string, fault fault) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		go attend(client.(*net.TCPConn), fault)
	}
}
