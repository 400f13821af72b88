package discover

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"berth/internal/discover/discovertest"
)

// The search list is tried as the system's own resolver tries it.
func TestResolvConfSaysWhoIsAskedForWhat(t *testing.T) {
	server := discovertest.NewNameServer(t)
	server.Break("broken.test.")
	server.Set(t, "mcp.default.svc.cluster.local. 60 A 10.0.0.1", "mcp.default.svc. 60 A 10.0.0.2")
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, options, want string
	}{
		{"mcp", "search other.local default.svc.cluster.local\noptions ndots:5", "[10.0.0.1]"},
		{"mcp.default.svc", "search default.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5", "[10.0.0.1]"},
		{"mcp.default.svc", "search svc.cluster.local cluster.local\noptions ndots:1", "[10.0.0.2]"},
		{"mcp.default.svc.", "search cluster.local\noptions ndots:5", "[10.0.0.2]"},
		{"mcp.default.svc", "search broken.test cluster.local\noptions ndots:5", "[10.0.0.1]"},
		{"absent", "search cluster.local", "[]"},
	} {
		file := filepath.Join(t.TempDir(), "resolv.conf")
		if err := os.WriteFile(file, fmt.Appendf(nil, "# first one that is not there\nnameserver %s\n%s\n", host, tt.options), 0o600); err != nil {
			t.Fatal(err)
		}
		r := resolver{config: file, port: port}
		found, _, err := r.addresses(t.Context(), tt.name)
		if got := fmt.Sprint(found); err != nil || got != tt.want {
			t.Errorf("%s with %q: got %s, %v, want %s", tt.name, tt.options, got, err, tt.want)
		}
	}
}

// A failure somewhere in the search list is not "there is nobody".
func TestWhatFailsIsNotAbsent(t *testing.T) {
	server := discovertest.NewNameServer(t)
	server.Break("broken.test.")
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "nameserver %s\nsearch broken.test\n", host), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, _, err := (resolver{config: file, port: port}).addresses(t.Context(), "absent"); err == nil {
		t.Errorf("got %v, want an error", found)
	}
}

// The next server is asked if one is not there.
func TestAnotherServerIsAsked(t *testing.T) {
	server := discovertest.NewNameServer(t)
	server.Set(t, "mcp.test. 60 A 10.0.0.1")
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "nameserver 127.0.0.255\nnameserver %s\noptions timeout:1\n", host), 0o600); err != nil {
		t.Fatal(err)
	}
	found, _, err := resolver{config: file, port: port}.addresses(t.Context(), "mcp.test")
	if err != nil || len(found) != 1 {
		t.Errorf("got %v, %v, want the address", found, err)
	}
}
