package proxy_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// storeLine is the line between a store and its Redis. It can be held: then what
// goes to Redis waits, or what of it bears a word.
type storeLine struct {
	addr   string
	mu     sync.Mutex // guards the fields below
	word   string
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
func (l *storeLine) hold() (asked <-chan struct{}) { return l.holdWhat("") }

// holdWhat is hold of what bears this word.
func (l *storeLine) holdWhat(word string) (asked <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.word, l.asked, l.resume = word, make(chan struct{}), make(chan struct{})
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
		l.wait(buffer[:n])
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (l *storeLine) wait(piece []byte) {
	l.mu.Lock()
	resume := l.resume
	if !bytes.Contains(piece, []byte(l.word)) {
		resume = nil
	}
	if resume != nil && l.asked != nil {
		close(l.asked)
		l.asked = nil
	}
	l.mu.Unlock()
	if resume != nil {
		<-resume
	}
}
