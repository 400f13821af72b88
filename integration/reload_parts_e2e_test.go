//go:build e2e

package integration

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"berth/internal/certs/certstest"
	"berth/internal/demo"
)

// children counts the processes that a process has started and that live.
func (p *process) children(t testing.TB) (n int) {
	t.Helper()
	for _, task := range glob(t, fmt.Sprintf("/proc/%d/task/*/children", p.command.Process.Pid)) {
		text, _ := os.ReadFile(task) // it may be gone
		n += len(strings.Fields(string(text)))
	}
	return n
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A server that berth runs is run on where nothing of it has changed. Where something has, its sessions
// stay where they are, and its process until they end.
func TestServersOutliveReloads(t *testing.T) {
	t.Parallel()
	r := &reloading{client: newModernClient(t), file: filepath.Join(t.TempDir(), "berth.toml")}
	pool := func(env string) string {
		return fmt.Sprintf("[[pools]]\n[[pools.upstreams]]\nname = \"run\"\ncommand = [%q, %q]\nisolation = \"all\"\nenv = { MODE = %q }\n", berthBinary, demo.ServerVerb, env)
	}
	r.write(t, pool("one"))
	r.watched = startWatched(t, nil, "--config", r.file)
	wantRunning := func(n int) {
		t.Helper()
		if !await(t, readyWithin, func() bool { return r.children(t) == n }) {
			t.Errorf("processes: got %d, want %d", r.children(t), n)
		}
	}
	session := func() *standing { return &standing{legacyClient: openSession(t, r.url(), "")} }
	one := session()
	wantRunning(1)
	r.write(t, pool("one")+"picker_is = 0\n") // which is a fault
	if got := r.verb(t); got.code != 1 {
		t.Errorf("a faulty file: got %d %q", got.code, got.stdout)
	}
	r.write(t, "[log]\nlevel = \"debug\"\n"+pool("one"))
	r.hangUp(t)
	two := session()
	wantRunning(1)

	r.write(t, pool("other"))
	r.hangUp(t)
	one.use(t, r.url())
	three := session()
	wantRunning(2)
	for _, s := range []*standing{one, two} {
		s.use(t, r.url())
		response, err := s.send(t.Context(), http.MethodDelete, r.url(), "")
		if err != nil || response.StatusCode/100 != 2 {
			t.Errorf("the end of a session: %v, %v", response, err)
		}
		response.Body.Close()
	}
	wantRunning(1)
	three.use(t, r.url())

	r.fleet = startLocalFleet(t, nil)
	r.write(t, r.pool(""))
	r.hangUp(t)
	wantRunning(0)
	r.list(t)
}

// Certificates may come from other files. Whoever is connected stays so.
func TestCertificatesChangeWithTheFile(t *testing.T) {
	t.Parallel()
	root, directory := certstest.New(t), t.TempDir()
	table := func(name string) string {
		pair := root.Server(name)
		cert, key := filepath.Join(directory, name+".pem"), filepath.Join(directory, name+".key")
		certstest.Write(t, cert, pair.Cert)
		certstest.Write(t, key, pair.Key)
		return fmt.Sprintf("[tls]\ncert = %q\nkey = %q\n", cert, key)
	}
	r := startReloading(t, func(r *reloading) string { return table("one.test") + r.pool("") })
	shown := func() *tls.Conn {
		t.Helper()
		conn, err := tls.Dial("tcp", strings.TrimPrefix(r.base, "http://"), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	name := func(conn *tls.Conn) string { return conn.ConnectionState().PeerCertificates[0].DNSNames[0] }
	before := shown()
	if name(before) != "one.test" {
		t.Fatalf("shown: %s", name(before))
	}
	r.write(t, table("other.test")+"client_ca = \"/nowhere/ca.pem\"\n"+r.pool(""))
	if got := r.verb(t); got.code != 1 || !strings.Contains(got.stderr, r.file+":4: tls.client_ca") {
		t.Errorf("authorities that are not there: got %d %q", got.code, got.stderr)
	}
	if got := name(shown()); got != "one.test" {
		t.Errorf("after a faulty file %s is shown", got)
	}
	r.write(t, table("other.test")+"min_version = \"1.3\"\n"+r.pool(""))
	r.hangUp(t)
	if conn := shown(); name(conn) != "other.test" || conn.ConnectionState().Version != tls.VersionTLS13 {
		t.Errorf("shown: %s, version %s", name(conn), strconv.Itoa(int(conn.ConnectionState().Version)))
	}
	if _, err := fmt.Fprint(before, "GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Errorf("a connection from before: %v", err)
	}
	head := make([]byte, 8)
	if _, err := before.Read(head); err != nil || string(head) != "HTTP/1.1" {
		t.Errorf("a connection from before: got %q, %v", head, err)
	}
	r.write(t, r.pool(""))
	if got := r.verb(t); got.code != 0 || !strings.Contains(got.stdout, "needs a restart: tls.cert") {
		t.Errorf("without TLS: got %d %q %q", got.code, got.stdout, got.stderr)
	}
	if got := name(shown()); got != "other.test" {
		t.Errorf("after that %s is shown", got)
	}
}
