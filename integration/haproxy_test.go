package integration

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// haproxyConfig is an ordinary one: each server is checked as HAProxy does by default (every 2 s; down after
// three failures, up after two answers), on berth's admin listener.
const haproxyConfig = `
global
  stats socket SOCKET mode 600 level admin
defaults
  mode http
  timeout connect 5s
  timeout client 1m
  timeout server 1m
frontend clients
  bind ADDRESS
  default_backend berths
backend berths
  balance roundrobin
  option httpchk GET /readyz
SERVERS`

// haproxy is one that stands in front of berths.
type haproxy struct {
	url    string // of the MCP endpoint
	socket string
}

// startHAProxy starts it in front of berths that listen at these addresses, clients' and admin.
func startHAProxy(t testing.TB, berths ...addresses) *haproxy {
	t.Helper()
	skipShort(t)
	program := haproxyProgram(t)
	dir, err := os.MkdirTemp("", "haproxy") // the path of a socket has few bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := &haproxy{socket: filepath.Join(dir, "s")}
	var servers strings.Builder
	for i, b := range berths {
		_, port, _ := net.SplitHostPort(b.admin)
		fmt.Fprintf(&servers, "  server berth%d %s check port %s\n", i, b.clients, port)
	}
	_, address := listen(t, "haproxy", func(address string) *exec.Cmd {
		config := strings.NewReplacer("SOCKET", h.socket, "ADDRESS", address, "SERVERS", servers.String()).Replace(haproxyConfig)
		path := filepath.Join(dir, "haproxy.cfg")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command(program, "-db", "-f", path)
	})
	h.url = "http://" + address + "/mcp"
	return h
}

// haproxyProgram finds HAProxy, which Debian keeps where only root looks.
func haproxyProgram(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "haproxy")
	return ""
}

// state is what HAProxy takes a server for.
func (h *haproxy) state(t testing.TB, server int) string {
	t.Helper()
	conn, err := net.DialTimeout("unix", h.socket, time.Second)
	if err != nil {
		return "" // the socket comes a moment after the address
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "show stat\n"); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(line, ","); fields[0] == "berths" && fields[1] == fmt.Sprint("berth", server) {
			return fields[17] // status; "UP 1/2" while it is about to change
		}
	}
	return ""
}

func (h *haproxy) await(t testing.TB, server int, want string) {
	t.Helper()
	if !await(t, readyWithin, func() bool { return h.state(t, server) == want }) {
		t.Fatalf("HAProxy takes berth%d for %s, want %s", server, h.state(t, server), want)
	}
}
