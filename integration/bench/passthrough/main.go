// Passthrough hands messages on as they come, between each client and an instance of its own, of those that are named
// on the command line. It looks for nothing but where a message ends: what it costs is what the kernel and Go's
// scheduler take for a proxy with a goroutine a connection, and the floor of any that is written in Go that way.
//
//	passthrough ADDRESS METRICS-SOCKET HOST:PORT…
package main

import (
	"bytes"
	"errors"
	"log"
	"net"
	"os"
	"strconv"

	"berth/integration/bench/mallocs"
)

func main() {
	if len(os.Args) < 4 {
		log.Fatal("passthrough: ADDRESS METRICS-SOCKET HOST:PORT…")
	}
	go func() { log.Fatal(mallocs.Serve(os.Args[2])) }()
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	upstreams := os.Args[3:]
	for turn := 0; ; turn++ {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go pass(client, upstreams[turn%len(upstreams)])
	}
}

// pass carries one exchange after the other, until either side closes.
func pass(client net.Conn, address string) {
	defer client.Close()
	upstream, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer upstream.Close()
	buffer := make([]byte, 64<<10)
	for {
		if passMessage(upstream, client, buffer) != nil || passMessage(client, upstream, buffer) != nil {
			return
		}
	}
}

func passMessage(to, from net.Conn, buffer []byte) error {
	message, err := read(from, buffer)
	if err != nil {
		return err
	}
	_, err = to.Write(message)
	return err
}

var (
	lengthName = []byte("\r\nContent-Length: ")
	headEnd    = []byte("\r\n\r\n")
	errTooLong = errors.New("passthrough: a message is longer than the buffer")
)

// read reads one message, whose length its head tells.
func read(from net.Conn, buffer []byte) ([]byte, error) {
	for read := 0; read < len(buffer); {
		n, err := from.Read(buffer[read:])
		if err != nil {
			return nil, err
		}
		read += n
		head, body, whole := bytes.Cut(buffer[:read], headEnd)
		if whole && len(body) >= length(head) {
			return buffer[:read], nil
		}
	}
	return nil, errTooLong
}

func length(head []byte) int {
	_, value, _ := bytes.Cut(head, lengthName)
	value, _, _ = bytes.Cut(value, []byte("\r"))
	n, _ := strconv.Atoi(string(value)) // no length: no body
	return n
}
