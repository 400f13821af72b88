package exchange

import (
	"context"
	"net"
	"os"
	"syscall"
	"testing"
)

// What a machine lacks it may lack as well when a name is looked up.
func TestAMachineIsStarvedThatCannotLookUpAName(t *testing.T) {
	for _, c := range []struct {
		call string
		err  syscall.Errno
		want bool
	}{
		{"socket", syscall.EMFILE, true}, {"socket", syscall.ENFILE, true}, {"socket", syscall.ENOBUFS, true},
		{"connect", syscall.ECONNREFUSED, false}, {"connect", syscall.ENETUNREACH, false}, {"connect", syscall.EADDRNOTAVAIL, false},
	} {
		names := net.Resolver{PreferGo: true, Dial: func(_ context.Context, network, _ string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError(c.call, c.err)}
		}}
		dialer := net.Dialer{Resolver: &names}
		conn, err := dialer.DialContext(t.Context(), "tcp", "server.test.:80")
		if err == nil {
			_ = conn.Close()
			t.Fatal("it was found")
		}
		if IsStarved(err) != c.want {
			t.Errorf("%v: got %v, want %v", err, !c.want, c.want)
		}
	}
	// The system's own resolver says no more than that.
	if err := (&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: syscall.EMFILE.Error(), Name: "server.test"}}); !IsStarved(err) {
		t.Errorf("%v: got false", err)
	}
	for lack, want := range map[syscall.Errno]bool{syscall.EMFILE: true, syscall.EADDRNOTAVAIL: true, syscall.ECONNREFUSED: false} {
		if err := (&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", lack)}); IsStarved(err) != want {
			t.Errorf("%v: got %v, want %v", err, !want, want)
		}
	}
}
