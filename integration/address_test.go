package integration

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
)

// Ports of servers are taken below the range that the kernel gives to outgoing
// connections: one of those could take a port between its choice and its use.
const (
	firstPort = 15000
	portCount = 15000
)

// lastPort makes a process never choose a port twice. It starts anywhere, so that
// test binaries that run side by side seldom meet.
var lastPort atomic.Uint32

func init() { lastPort.Store(rand.Uint32N(portCount)) }

// freeAddress returns a loopback address that nobody listens on just now.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range portCount {
		port := firstPort + lastPort.Add(1)%portCount
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatalf("giving back %s: %v", address, err)
		}
		return address
	}
	t.Fatal("no free port on loopback")
	return ""
}
