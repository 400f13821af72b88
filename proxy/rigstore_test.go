package proxy_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// storeLine is the line between a store and its Redis. It can be held: then what
// goes to Redis waits.
type storeLine struct {
	addr   string
	mu     sync.Mutex // guards the fields below
	asked  chan struct{}
	resume chan struct{}
}

func newStoreLine(t *testing.T, redis string) *storeLine {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	line := &storeLine{addr: l.Addr().String()}
	t.Cleanup(func() {
		line.release()
		l.Close()
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go line.carry(conn, redis)
		}
	}()
	return line
}

// hold lets nothing through any more; the channel is closed when something waits.
func (l *storeLine) hold() (asked <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.resume = make(chan struct{}), make(chan struct{})
	return l.asked
}

func (l *storeLine) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.resume != nil {
		close(l.resume)
		l.resume = nil
	}
}

func (l *storeLine) carry(store net.Conn, redis string) {
	defer store.Close()
	server, err := net.Dial("tcp", redis)
	if err != nil {
		return
	}
	defer server.Close()
	go io.Copy(store, server)
	buffer := make([]byte, 4096)
	for {
		n, err := store.Read(buffer)
		if err != nil {
			return
		}
		l.wait()
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (l *storeLine) wait() {
	l.mu.Lock()
	resume := l.resume
	if resume != nil && l.asked != nil {
		close(l.asked)
		l.asked = nil
	}
	l.mu.Unlock()
	if resume != nil {
		<-resume
	}
}
