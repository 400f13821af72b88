//go:build unix

package sockets

import (
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is being started has none of the connections that are taken from the queue meanwhile.
func TestWhatIsQueuedIsNoChilds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	raw, err := listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 1)
	syscall.ForkLock.Lock() // as while a process is being started
	go func() {
		_ = raw.Control(func(fd uintptr) {
			var conn net.Conn
			for err := error(nil); conn == nil && (err == nil || err == unix.EAGAIN); {
				conn, err = acceptOne(int(fd))
			}
			accepted <- conn
		})
	}()
	for waits := false; !waits; {
		select {
		case conn := <-accepted:
			accepted <- conn
			waits = true
			t.Error("it was accepted while a process was being started")
		default:
			waits = isWaiting("sockets.acceptOne", "sync.(*RWMutex).RLock")
			runtime.Gosched()
		}
	}
	syscall.ForkLock.Unlock()
	conn := <-accepted
	if conn == nil {
		t.Fatal("nothing was accepted")
	}
	_ = conn.Close()
}

// isWaiting reports whether a goroutine is within all of these functions.
func isWaiting(functions ...string) bool {
	text := make([]byte, 1<<20)
goroutines:
	for one := range strings.SplitSeq(string(text[:runtime.Stack(text, true)]), "\n\n") {
		for _, function := range functions {
			if !strings.Contains(one, function) {
				continue goroutines
			}
		}
		return true
	}
	return false
}
