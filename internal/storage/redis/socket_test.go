package redis

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"berth/internal/realtest"
)

// linked is a link whose other end is a connection of the test's.
func linked(t *testing.T) (l *link, other net.Conn) {
	t.Helper()
	other, conn := realtest.Pair(t)
	return &link{conn: conn, socket: socketOf(conn)}, other
}

// What the kernel has no room for at once goes out as it finds room.
func TestWhatIsLongerThanTheKernelsRoomIsWritten(t *testing.T) {
	l, other := linked(t)
	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	got := make(chan []byte, 1)
	go func() {
		all := make([]byte, len(long))
		n, _ := io.ReadFull(other, all)
		_, _ = other.Write([]byte("+OK\r\n"))
		got <- all[:n]
	}()
	if err := l.say(long); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(<-got, long) {
		t.Error("the other side has read something else")
	}
}

// What ends a connection, or the time for an answer, is told as package net tells it.
func TestErrorsOfASocketAreThoseOfPackageNet(t *testing.T) {
	l, other := linked(t)
	if l.socket == nil {
		t.Skip("no kernel to ask")
	}
	if err := l.conn.SetDeadline(time.Now().Add(time.Second / 100)); err != nil {
		t.Fatal(err)
	}
	if err := l.say([]byte("PING\r\n")); !errors.Is(err, os.ErrDeadlineExceeded) || !isTimeout(err) || strings.Contains(err.Error(), "raw") {
		t.Errorf("without an answer: got %v", err)
	}
	if err := l.say([]byte("PING\r\n")); !isTimeout(err) || !strings.HasPrefix(err.Error(), "write tcp ") {
		t.Errorf("once the time is over: got %v", err)
	}
	if err := l.conn.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	_ = other.(*net.TCPConn).CloseWrite()
	if n, err := l.socket.Read(make([]byte, 9)); n != 0 || err != io.EOF {
		t.Errorf("at the end: got %d bytes, %v", n, err)
	}
	_ = other.(*net.TCPConn).SetLinger(0)
	_ = other.Close() // by a reset
	var failed *net.OpError
	for range 2 { // the first may go out before the reset has come
		if err := l.say([]byte("PING\r\n")); err != nil && !errors.As(err, &failed) {
			t.Errorf("of a connection that was reset: got %v", err)
		}
		if _, err := l.socket.Read(make([]byte, 9)); err != nil && err != io.EOF && !errors.As(err, &failed) {
			t.Errorf("of a connection that was reset: got %v", err)
		}
	}
	if failed == nil || isTimeout(failed) {
		t.Errorf("of a connection that was reset: got %v", failed)
	}
}
