//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// moody stands in front of a real instance, and has moods.
type moody struct {
	url  string
	mood atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool] // reports whether it has answered; nil: it passes all on
}

func startMoody(t testing.TB, behind *instance) *moody {
	t.Helper()
	target, err := url.Parse(behind.base)
	if err != nil {
		t.Fatal(err)
	}
	m, proxy := new(moody), httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{IdleConnTimeout: 2 * time.Second} // servers of node close theirs after 5 s, maybe under a request
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if mood := m.mood.Load(); mood == nil || !(*mood)(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	m.url = front.URL + "/mcp"
	return m
}

func (m *moody) is(mood func(w http.ResponseWriter, r *http.Request) bool) {
	if mood == nil {
		m.mood.Store(nil)
		return
	}
	m.mood.Store(&mood)
}

func sayFiveHundred(w http.ResponseWriter, _ *http.Request) bool {
	w.WriteHeader(http.StatusInternalServerError)
	return true
}

// checkedFleet is three instances a, b and c, told of by a file, of which the last stands behind a
// moody, and a berth that goes by checks alone.
type checkedFleet struct {
	fleet
	*watched
	moody *moody
	file  string
}

func startChecked(t testing.TB) *checkedFleet {
	t.Helper()
	f := &checkedFleet{fleet: tasksFleet(t, 3, jsonAnswers), file: filepath.Join(t.TempDir(), "upstreams.json")}
	f.moody = startMoody(t, f.fleet[2])
	f.tell(t, f.moody.url)
	f.watched = startWatched(t, nil, "--config", configFile(t, fmt.Sprintf(`[[pools]]
[pools.ejection]
on = []
[pools.health]
check = "discover"
interval = "500ms"
jitter = "50ms"
timeout = "450ms"
rise = 2
fall = 2
[pools.discover]
file = %q
`, f.file)))
	f.awaitReadyz(t, "[+]pool default ok")
	return f
}

// tell writes where c is now.
func (f *checkedFleet) tell(t testing.TB, c string) {
	t.Helper()
	var all []map[string]string
	for i, u := range []string{f.fleet[0].url(), f.fleet[1].url(), c} {
		all = append(all, map[string]string{"name": string(rune('a' + i)), "url": u})
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(f.file+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(f.file+".new", f.file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// spread makes calls, each of which must be answered, and returns how many went to c.
func (f *checkedFleet) spread(t testing.TB) int {
	t.Helper()
	client, toC := newModernClient(t), 0
	before := f.metric(t, "berth_requests_total", `mcp_method_name="tools/list"`)
	served := f.atC(t)
	for range 40 {
		if got, err := client.send(t, f.watched.url(), "tools/list", "", map[string]any{}); err != nil || got.status != http.StatusOK {
			t.Fatalf("tools/list: got %v, %v", got, err)
		}
	}
	if got := f.metric(t, "berth_requests_total", `mcp_method_name="tools/list"`) - before; got != 40 {
		t.Fatalf("%d requests were counted, want 40", got)
	}
	toC = f.atC(t) - served
	return toC
}

// atC is how many requests c was sent for clients.
func (f *checkedFleet) atC(t testing.TB) int {
	t.Helper()
	return f.metric(t, "mcp_client_operation_duration_seconds_count", `upstream="c"`)
}

// New work avoids an instance in trouble, which is told of by name and with the reason; and comes
// back to it.
func TestNewWorkAvoidsAnInstanceThatFailsItsChecks(t *testing.T) {
	t.Parallel()
	f := startChecked(t)
	if f.spread(t) == 0 {
		t.Error("c is well and got no work")
	}
	var flips atomic.Int64
	for _, c := range []struct {
		trouble     string
		begin, heal func()
		reason      string
	}{
		{"500", func() { f.moody.is(sayFiveHundred) }, func() { f.moody.is(nil) }, "server/discover: HTTP 500"},
		{"slow", func() {
			f.moody.is(func(_ http.ResponseWriter, r *http.Request) bool {
				select {
				case <-r.Context().Done():
				case <-time.After(2 * time.Second):
				}
				return false
			})
		}, func() { f.moody.is(nil) }, "no answer within 450ms"},
		{"flapping", func() {
			f.moody.is(func(w http.ResponseWriter, r *http.Request) bool {
				return flips.Add(1)%3 != 0 && sayFiveHundred(w, r) // two bad ones, a good one
			})
		}, func() { f.moody.is(nil) }, "server/discover: HTTP 500"},
		{"frozen", func() { f.fleet[2].signal(t, syscall.SIGSTOP) }, func() { f.fleet[2].signal(t, syscall.SIGCONT) }, "no answer within 450ms"},
	} {
		c.begin()
		f.wantTrouble(t, c.trouble, c.reason)
		c.heal()
		f.wantBack(t, c.trouble)
	}

	f.tell(t, f.fleet[2].url()) // itself, so that it can be gone
	if !await(t, readyWithin, func() bool { return strings.Contains(f.output.String(), `"instances are at another URL"`) }) {
		t.Fatal("it is not told that c is at another URL")
	}
	f.wantBack(t, "moved")
	f.fleet[2].kill()
	f.wantTrouble(t, "gone", "connection refused")
	back, address := listen(t, "c", func(address string) *exec.Cmd {
		return nodeCommand(t, filepath.Join(serversDir, "tasks-server.js"), "--port", portOf(t, address), "--name", "c")
	})
	f.fleet[2] = &instance{process: back, base: "http://" + address}
	f.tell(t, f.fleet[2].url())
	f.wantBack(t, "back elsewhere")
}

// wantTrouble waits until c is told of as failing, and wants no work to go there from then on.
func (f *checkedFleet) wantTrouble(t testing.TB, trouble, reason string) {
	t.Helper()
	f.awaitReadyz(t, "[+]pool default degraded: 1 of 3 upstreams: c fails its checks since ")
	if _, text := f.readyz(t); !strings.Contains(text, reason) {
		t.Errorf("%s: /readyz: got %q, want the reason %q", trouble, text, reason)
	}
	if got := f.spread(t); got > 0 {
		t.Errorf("%s: c got %d of 40 calls, want none", trouble, got)
	}
	if got := f.metric(t, "berth_upstream_up", `upstream="c"`); got != 0 {
		t.Errorf("%s: berth_upstream_up of c: got %d", trouble, got)
	}
	if got := f.metric(t, "berth_health_checks_total", `upstream="c"`, `outcome="failed"`); got < 2 {
		t.Errorf("%s: %d failed checks of c, want 2 or more", trouble, got)
	}
	if !f.toldOnce(t) {
		t.Errorf("%s: it is not told once that c fails its checks", trouble)
	}
}

// toldOnce reports whether the last thing told of c's checks is that it fails them, and none was told twice in a row.
func (f *checkedFleet) toldOnce(t testing.TB) bool {
	t.Helper()
	fails := false
	for line := range strings.SplitSeq(f.settled(), "\n") {
		now := strings.Contains(line, "upstream fails its checks")
		if !strings.Contains(line, `"upstream":"c"`) || !now && !strings.Contains(line, "upstream passes its checks") {
			continue
		}
		if now && fails {
			return false
		}
		fails = now
	}
	return fails
}

// wantBack waits until c is well, and wants work to go there.
func (f *checkedFleet) wantBack(t testing.TB, trouble string) {
	t.Helper()
	f.awaitReadyz(t, "[+]pool default ok")
	if f.spread(t) == 0 {
		t.Errorf("%s: c is well again, and got none of 40 calls", trouble)
	}
}

// A berth with checks is not ready before an upstream has passed one; without, it cannot know.
func TestNotReadyBeforeAnUpstreamHasPassed(t *testing.T) {
	t.Parallel()
	f := tasksFleet(t, 1, jsonAnswers)
	m := startMoody(t, f[0])
	m.is(sayFiveHundred)
	b := startWatched(t, nil, "--upstream", "c="+m.url, "--config", configFile(t, `[[pools]]
[pools.health]
check = "discover"
interval = "200ms"
jitter = "10ms"
timeout = "200ms"
`))
	b.awaitReadyz(t, "[-]pool default: 1 of 1 upstreams: c fails its checks since ")
	if status, _ := b.readyz(t); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz: got %d, want 503", status)
	}
	m.is(nil)
	b.awaitReadyz(t, "[+]pool default ok")
	if status, _ := b.readyz(t); status != http.StatusOK {
		t.Errorf("/readyz: got %d, want 200", status)
	}
}
