package integration

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// addresses are where a berth listens, for clients and for operators.
type addresses struct{ clients, admin string }

func freeAddresses(t testing.TB) addresses { return addresses{freeAddress(t), freeAddress(t)} }

// startAt starts a berth at these addresses, where another one may have been before, or be, and waits until
// it says that it is ready. sockets are what it is handed over, if there are any, by their names.
func startAt(t testing.TB, at addresses, f fleet, sockets []*os.File, args ...string) *watched {
	t.Helper()
	command := berthCommand(at, f, args...)
	if len(sockets) > 0 {
		command = activated(command, sockets)
	}
	b := &watched{berth: &berth{process: start(t, "berth", command), base: "http://" + at.clients}, admin: "http://" + at.admin}
	if !await(t, readyWithin, func() bool { return strings.Contains(b.output.String(), `"admin listening"`) || !b.alive() }) || !b.alive() {
		t.Fatal("berth did not start")
	}
	return b
}

func berthCommand(at addresses, f fleet, args ...string) *exec.Cmd {
	line := []string{"serve", "--listen", at.clients, "--admin", at.admin}
	for _, i := range f {
		line = append(line, "--upstream", i.name+"="+i.url())
	}
	return exec.Command(berthBinary, append(line, args...)...)
}

// activated runs a command as a service manager does that hands sockets over (sd_listen_fds(3)).
func activated(command *exec.Cmd, sockets []*os.File) *exec.Cmd {
	var names []string
	for _, socket := range sockets {
		names = append(names, socket.Name())
	}
	shell := exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`}, command.Args...)...)
	shell.Env = append(os.Environ(), fmt.Sprint("LISTEN_FDS=", len(sockets)), "LISTEN_FDNAMES="+strings.Join(names, ":"))
	shell.ExtraFiles = sockets
	return shell
}

// flood is clients that call a tool over and over, each call answered or noted.
type flood struct {
	calls   atomic.Int64
	failed  atomic.Int64
	mu      sync.Mutex // guards the field below
	reasons []string   // the first few
	stop    chan struct{}
	over    sync.WaitGroup
}

// startFlood starts clients that pause between two calls. Those that keep their connections hear from
// answers when these close; the others open one for each call.
func startFlood(t testing.TB, url string, clients int, pause time.Duration, keep bool) *flood {
	t.Helper()
	f := &flood{stop: make(chan struct{})}
	for n := range clients {
		f.over.Go(func() { f.run(t, url, n, pause, keep) })
	}
	t.Cleanup(func() { f.end() })
	return f
}

func (f *flood) run(t testing.TB, url string, n int, pause time.Duration, keep bool) {
	transport := &http.Transport{DisableKeepAlives: !keep}
	defer transport.CloseIdleConnections()
	client := &modernClient{http: http.Client{Transport: transport, Timeout: readyWithin}}
	for i := 0; ; i++ {
		select {
		case <-f.stop:
			return
		case <-time.After(pause):
		}
		name := fmt.Sprintf("caller-%d-%d", n, i)
		got, err := client.send(t, url, "tools/call", "greet", map[string]any{"name": "greet", "arguments": map[string]any{"name": name}})
		f.calls.Add(1)
		if err == nil && got.status == http.StatusOK && strings.Contains(got.body, "Hello, "+name+"!") {
			continue
		}
		f.failed.Add(1)
		f.mu.Lock()
		if len(f.reasons) < 10 {
			f.reasons = append(f.reasons, fmt.Sprintf("%v: %v, %v", time.Now().Format("15:04:05.000"), got, err))
		}
		f.mu.Unlock()
	}
}

// awaitMore waits until that many more calls have been made.
func (f *flood) awaitMore(t testing.TB, n int64) {
	t.Helper()
	if until := f.calls.Load() + n; !await(t, readyWithin, func() bool { return f.calls.Load() >= until }) {
		t.Errorf("calls: got %d, want %d", f.calls.Load(), until)
	}
}

func (f *flood) end() {
	select {
	case <-f.stop:
	default:
		close(f.stop)
	}
	f.over.Wait()
}

// wantNoneFailed ends the flood, and fails the test if any of its calls failed.
func (f *flood) wantNoneFailed(t testing.TB) {
	t.Helper()
	f.end()
	if failed := f.failed.Load(); failed > 0 || f.calls.Load() == 0 {
		t.Errorf("calls that failed: %d of %d:\n%s", failed, f.calls.Load(), strings.Join(f.reasons, "\n"))
	}
	t.Logf("%d calls", f.calls.Load())
}
