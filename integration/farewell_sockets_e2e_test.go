//go:build e2e

package integration

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// replaced is how often a berth is replaced by its successor: what is lost is lost in a moment, and not
// each time.
const replaced = 8

// successive replaces a berth again and again while clients call, by another one that stands beside it.
func successive(t *testing.T, at addresses, start func() *watched) {
	t.Helper()
	now := start()
	kept, fresh := startFlood(t, now.url(), 4, 5*time.Millisecond, true), startFlood(t, now.url(), 8, 0, false)
	for range replaced {
		next := start()
		fresh.awaitMore(t, 100)
		now.signal(t, syscall.SIGTERM)
		now.awaitExit(t, drainDefault)
		wantExitCode(t, now, 0)
		now = next
		if status, text := now.readyz(t); status != 200 {
			t.Errorf("/readyz at the address of both: got %d %q, want the one that stays", status, text)
		}
	}
	kept.wantNoneFailed(t)
	fresh.wantNoneFailed(t)
}

// Two processes at one address: no call is refused or broken when the old one goes, though the kernel gives
// new connections to either until then.
func TestBerthIsReplacedByOneBesideIt(t *testing.T) {
	t.Parallel()
	fleet, at := startLocalFleet(t, nil).fleet, freeAddresses(t)
	config := configFile(t, "reuse_port = true\n")
	successive(t, at, func() *watched { return startAt(t, at, fleet, nil, "--config", config) })
}

// Without a word two berths do not share an address by mistake.
func TestSecondBerthAtAnAddressIsRefused(t *testing.T) {
	t.Parallel()
	fleet, at := startLocalFleet(t, nil).fleet, freeAddresses(t)
	startAt(t, at, fleet, nil, "--config", configFile(t, "reuse_port = true\n"))
	second := start(t, "berth", berthCommand(at, fleet))
	second.awaitExit(t, readyWithin)
	if log := second.output.String(); !strings.Contains(log, "address already in use") {
		t.Errorf("got %s", log)
	}
}

// opened are the sockets of a service manager's: one for clients, one for operators.
func opened(t testing.TB, at addresses) []*os.File {
	t.Helper()
	var files []*os.File
	for name, address := range map[string]string{"berth.socket": at.clients, "admin": at.admin} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close() // the file is a copy
		file, err := listener.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		copied, err := syscall.Dup(int(file.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
		named := os.NewFile(uintptr(copied), name)
		t.Cleanup(func() { named.Close() })
		files = append(files, named)
	}
	return files
}

// A service manager holds the sockets: two berths have them side by side, or one after the other, and no
// call is refused.
func TestBerthIsReplacedUnderAServiceManager(t *testing.T) {
	t.Parallel()
	t.Run("side by side", func(t *testing.T) {
		t.Parallel()
		fleet, at := startLocalFleet(t, nil).fleet, freeAddresses(t)
		sockets := opened(t, at)
		successive(t, at, func() *watched { return startAt(t, at, fleet, sockets) })
	})
	t.Run("one after the other", func(t *testing.T) {
		t.Parallel()
		fleet, at := startLocalFleet(t, nil).fleet, freeAddresses(t)
		sockets := opened(t, at)
		now := startAt(t, at, fleet, sockets)
		calls := startFlood(t, now.url(), 4, 5*time.Millisecond, false)
		for range 4 {
			calls.awaitMore(t, 50)
			now.signal(t, syscall.SIGTERM)
			now.awaitExit(t, drainDefault)
			now = startAt(t, at, fleet, sockets)
		}
		calls.wantNoneFailed(t)
	})
}

// What a service manager is told, from the start to the end: ready, alive, going, what is left, and that it
// is to be patient.
func TestServiceManagerIsTold(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "notify")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { manager.Close() })
	if err := manager.SetReadDeadline(time.Now().Add(readyWithin)); err != nil {
		t.Fatal(err)
	}
	hear := func(want string) {
		t.Helper()
		for buffer := make([]byte, 4096); ; {
			n, err := manager.Read(buffer)
			if err != nil {
				t.Fatalf("waiting for %s: %v", want, err)
			}
			if regexp.MustCompile(want).Match(buffer[:n]) {
				return
			}
		}
	}
	greetings := newGate("greet")
	fleet, at := startLocalFleet(t, greetings.hold), freeAddresses(t)
	command := berthCommand(at, fleet.fleet)
	command.Env = append(os.Environ(), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=600000")
	b := &watched{berth: &berth{process: start(t, "berth", command), base: "http://" + at.clients}, admin: "http://" + at.admin}
	hear(`^READY=1\nSTATUS=serving on 127`)
	hear(`^WATCHDOG=1$`)
	answers := greet(t, newModernClient(t), b, 1)
	if !await(t, readyWithin, func() bool { return fleet.calls("tools/call") == 1 }) {
		t.Fatal("the call did not reach the fleet")
	}
	b.signal(t, syscall.SIGTERM)
	hear(`^STOPPING=1\n`)
	hear(`^STATUS=left: 1 requests, 0 streams, .*\nEXTEND_TIMEOUT_USEC=15000000$`)
	hear(`^WATCHDOG=1$`)
	greetings.open()
	wantGreetings(t, answers, 1)
	b.awaitExit(t, drainDefault)
}
