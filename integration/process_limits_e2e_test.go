//go:build e2e

package integration

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"
)

// startBerthUnder is startBerth, with a shell that says something first.
func startBerthUnder(t testing.TB, f fleet, first string, args ...string) *berth {
	t.Helper()
	p, address := listen(t, "berth", func(address string) *exec.Cmd {
		line := []string{"-c", first + `; exec "$@"`, "sh", berthBinary, "serve", "--listen", address}
		for _, i := range f {
			line = append(line, "--upstream", i.name+"="+i.url())
		}
		return exec.Command("sh", append(line, args...)...)
	})
	return &berth{process: p, base: "http://" + address}
}

// TestBerthOutlivesAWantOfDescriptors: a storm of connections takes all that the
// process may have. Nothing ends for it, nobody upstream is blamed, and when it is over
// all is as before.
func TestBerthOutlivesAWantOfDescriptors(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	b := startBerthUnder(t, fleet.fleet, "ulimit -n 40")
	client := newModernClient(t)
	task := client.create(t, b.url(), 600)
	at, err := url.Parse(b.base)
	if err != nil {
		t.Fatal(err)
	}
	var storm []net.Conn
	t.Cleanup(func() {
		for _, c := range storm {
			_ = c.Close()
		}
	})
	for range 100 { // what berth does not accept waits with the kernel
		c, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		storm = append(storm, c)
	}
	realtest.Eventually(t, "no connection to be accepted", func() bool { return b.output.Count("connections cannot be accepted") == 1 })
	for range 20 { // over the connection that stands, to upstreams that berth has none to
		got, err := client.send(t, b.url(), "tools/call", "slow_compute", slowCompute(600))
		if err != nil {
			t.Fatalf("a client that is connected: %v", err)
		}
		if got.status != http.StatusOK && (got.status != http.StatusServiceUnavailable || got.Error.Data.Reason != "overloaded") {
			t.Errorf("got %v, want a task, or to be told to come back", got)
		}
	}
	for _, c := range storm {
		_ = c.Close()
	}
	realtest.Eventually(t, "its end to be told", func() bool {
		if c, err := net.Dial("tcp", at.Host); err == nil {
			_ = c.Close()
		}
		return b.output.Count("connections are accepted again") == 1
	})
	newModernClient(t).get(t, b.url(), task.TaskID)
	log := b.output.String()
	for _, blame := range []string{"upstream ejected", "upstream does not answer"} {
		if strings.Contains(log, blame) {
			t.Errorf("the log says %q:\n%s", blame, log)
		}
	}
}

// TestBerthLivesWithLittleMemory: calls that all wait are more than the memory given
// holds. Those that were let in are answered, the others are told to come back, and the
// process stays near its limit.
func TestBerthLivesWithLittleMemory(t *testing.T) {
	t.Parallel()
	const calls, each, limit = 2000, 20 << 10, 64 << 20
	release := make(chan struct{})
	fleet := startLocalFleet(t, func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
		if strings.Contains(string(body), `"hold"`) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		return false
	})
	b := startBerthUnder(t, fleet.fleet, "export GOMEMLIMIT=64MiB")
	client := newModernClient(t)
	arguments := map[string]any{"text": strings.Repeat("x", each)}
	var mu sync.Mutex // guards statuses
	statuses := map[int]int{}
	var waiting sync.WaitGroup
	for range calls {
		waiting.Go(func() {
			got, err := client.send(t, b.url(), "tools/call", "hold", map[string]any{"name": "hold", "arguments": arguments})
			if err != nil || got.status == http.StatusServiceUnavailable && got.Error.Data.Reason != "overloaded" {
				t.Errorf("got %v, %v, want an answer or to be told to come back", got, err)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[got.status]++
		})
	}
	realtest.Eventually(t, "all to be let in or not", func() bool {
		held := 0
		for _, s := range fleet.servers {
			held += s.Calls("tools/call")
		}
		mu.Lock()
		defer mu.Unlock()
		return held+statuses[http.StatusServiceUnavailable] >= calls
	})
	close(release)
	waiting.Wait()
	if statuses[http.StatusServiceUnavailable] == 0 || statuses[http.StatusOK] == 0 {
		t.Errorf("got %v, want some of each", statuses)
	}
	client.create(t, b.url(), 1)
	if peak := b.peakMemory(t); !raceEnabled && peak > 2*limit {
		t.Errorf("%d MiB resident, limit %d", peak>>20, limit>>20)
	}
}

// peakMemory is the most that was ever resident of the process, in bytes.
func (p *process) peakMemory(t testing.TB) (peak int64) {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.command.Process.Pid) + "/status")
	if err != nil {
		t.Skipf("no view of the process's memory: %v", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(rest, &peak); err != nil {
		t.Fatal(err)
	}
	return peak << 10
}

// TestAnAddressHoldsSoManyConnectionsOfABerth: as configured, and trusted peers are not
// counted.
func TestAnAddressHoldsSoManyConnectionsOfABerth(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	for name, c := range map[string]struct {
		trusted string
		stand   bool // a connection more than the limit
	}{
		"anybody":       {"[]", false},
		"trusted peers": {`["127.0.0.1"]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := configFile(t, "trusted_proxies = "+c.trusted+"\n[limits]\nconnections_per_address = 3\n")
			b := startBerth(t, fleet.fleet, "--config", file)
			at, err := url.Parse(b.base)
			if err != nil {
				t.Fatal(err)
			}
			stands := func() bool {
				conn, err := net.Dial("tcp", at.Host)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close() })
				if err := conn.SetDeadline(time.Now().Add(realtest.Within)); err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(conn, "OPTIONS / HTTP/1.1\r\nHost: localhost\r\n\r\n") // refused or not, it is answered
				_, err = conn.Read(make([]byte, 1))
				return err == nil
			}
			for range 3 { // the one that saw berth start may count for a moment still
				realtest.Eventually(t, "a connection within the limit", stands)
			}
			if got := stands(); got != c.stand {
				t.Errorf("the fourth connection stands: %v, want %v", got, c.stand)
			}
		})
	}
}
