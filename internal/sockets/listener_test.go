//go:build unix

package sockets

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func open(t *testing.T, address string, reuse bool) *Listener {
	t.Helper()
	l, err := Listen(t.Context(), address, reuse)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.socket.Close() })
	return l
}

func dial(t *testing.T, l net.Listener, n int) (all []net.Conn) {
	t.Helper()
	for range n {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		all = append(all, conn)
	}
	return all
}

// acceptAll accepts until the listener is closed, and answers each connection.
func acceptAll(t *testing.T, l net.Listener) (n int) {
	t.Helper()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		if _, err := conn.Write([]byte("served")); err != nil {
			t.Error(err)
		}
		conn.Close()
	}
}

// A client that was let in by the kernel has sent its request by then: it is served.
func TestWhatIsQueuedIsAcceptedBeforeTheListenerCloses(t *testing.T) {
	const clients = 50
	l := open(t, "127.0.0.1:0", false)
	waiting := dial(t, l, clients)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n := acceptAll(t, l); n != clients {
		t.Errorf("accepted %d, want %d", n, clients)
	}
	for _, conn := range waiting {
		if got, err := io.ReadAll(conn); err != nil || string(got) != "served" {
			t.Fatalf("a client got %q, %v", got, err)
		}
	}
	if conn, err := net.Dial("tcp", l.Addr().String()); err == nil {
		conn.Close()
		t.Error("it listens still")
	}
}

// Close wakes an Accept that waits.
func TestCloseEndsAccept(t *testing.T) {
	l := open(t, "127.0.0.1:0", false)
	done := make(chan error)
	go func() {
		_, err := l.Accept()
		done <- err
	}()
	l.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestTwoListenOnOneAddress(t *testing.T) {
	first := open(t, "127.0.0.1:0", true)
	if _, err := Listen(t.Context(), first.Addr().String(), false); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("without a word: got %v", err)
	}
	second := open(t, first.Addr().String(), true)
	waiting := dial(t, first, 40) // to either
	first.end()
	second.end()
	a, b := acceptAll(t, first), acceptAll(t, second)
	if a+b != len(waiting) {
		t.Errorf("accepted %d and %d, want %d", a, b, len(waiting))
	}
	if !first.Shared() {
		t.Error("it is not said to be shared")
	}
}

// handed is a listening socket as a service manager hands it over.
func handed(t *testing.T, network, address, name string) *os.File {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	file, err := l.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	copied, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	return os.NewFile(uintptr(copied), name)
}

func TestSocketsAreToldApartByTheirNames(t *testing.T) {
	for _, names := range [][2]string{{"berth.socket", "admin"}, {"LISTEN_FD_3", "berth-admin.socket"}, {"clients", "admin.socket"}} {
		clients, admin := handed(t, "tcp", "127.0.0.1:0", names[0]), handed(t, "unix", t.TempDir()+"/s", names[1])
		in, err := inherit([]*os.File{admin, clients})
		if err != nil || in.Clients.Addr().Network() != "tcp" || in.Admin.Addr().Network() != "unix" || !in.Clients.Shared() {
			t.Errorf("%v: got %v, %v", names, in, err)
		}
		in.close()
	}
	if in, err := inherit(nil); in != (Inherited{}) || err != nil {
		t.Errorf("of none: got %v, %v", in, err)
	}
}

func TestSocketsThatAreNoneAreNamed(t *testing.T) {
	plain, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	for want, files := range map[string][]*os.File{
		"file":         {plain},
		"one too many": {handed(t, "tcp", "127.0.0.1:0", "a"), handed(t, "tcp", "127.0.0.1:0", "b")},
		"is not TCP":   {handed(t, "unix", t.TempDir()+"/s", "a")},
	} {
		if _, err := inherit(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// The socket stays the manager's: another process accepts what comes after.
func TestInheritedSocketOutlivesItsListener(t *testing.T) {
	file := handed(t, "tcp", "127.0.0.1:0", "berth.socket")
	copied, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	first, err := inherit([]*os.File{file})
	if err != nil {
		t.Fatal(err)
	}
	before := dial(t, first.Clients, 3)
	first.Clients.Close()
	served := acceptAll(t, first.Clients)
	second, err := inherit([]*os.File{os.NewFile(uintptr(copied), "berth.socket")})
	if err != nil {
		t.Fatal(err)
	}
	after := dial(t, second.Clients, 3)
	second.Clients.Close()
	if got := []int{served, acceptAll(t, second.Clients)}; !slices.Equal(got, []int{len(before), len(after)}) {
		t.Errorf("accepted %v", got)
	}
}
