//go:build e2e

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// reloading is a berth whose configuration file changes while it serves.
type reloading struct {
	*watched
	file   string
	fleet  *localFleet
	spare  *localFleet // of which instances come and go
	tool   *plainTool  // of the calls of "work", which become tasks
	client *modernClient
}

// startReloading starts a berth whose file says what of returns.
func startReloading(t testing.TB, of func(r *reloading) string) *reloading {
	t.Helper()
	r := &reloading{tool: &plainTool{}, client: newModernClient(t), file: filepath.Join(t.TempDir(), "berth.toml")}
	between := func(w http.ResponseWriter, request *http.Request, body []byte) bool {
		return request.Header.Get("Mcp-Name") == "work" && r.tool.serve(w, request, body)
	}
	r.fleet, r.spare = startLocalFleet(t, between), startLocalFleet(t, between)
	r.write(t, of(r))
	r.watched = startWatched(t, nil, "--config", r.file)
	return r
}

// write puts a file in the place of the one before, as editors do.
func (r *reloading) write(t testing.TB, text string) {
	t.Helper()
	next := r.file + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, r.file); err != nil {
		t.Fatal(err)
	}
}

// file of a pool: settings above its upstreams, which are those of the fleet and more.
func (r *reloading) pool(settings string, more ...string) string {
	text := new(strings.Builder)
	fmt.Fprintf(text, "[[pools]]\n%s\n", settings)
	for _, i := range r.fleet.fleet {
		fmt.Fprintf(text, "[[pools.upstreams]]\nname = %q\nurl = %q\n", i.name, i.url())
	}
	return text.String() + strings.Join(more, "")
}

// anUpstream is one more instance of a pool, which gets no new work.
func (r *reloading) anUpstream(name string, n int) string {
	return fmt.Sprintf("[[pools.upstreams]]\nname = %q\nurl = %q\ndrain = true\n", name, r.spare.fleet[n].url())
}

// reloads is how many readings went so.
func (r *reloading) reloads(t testing.TB, outcome string) int {
	t.Helper()
	return r.metric(t, "berth_config_reloads_total", `outcome="`+outcome+`"`)
}

// verb runs berth reload.
func (r *reloading) verb(t testing.TB, args ...string) outcome {
	t.Helper()
	return runBerth(t, append([]string{"reload", "--admin", strings.TrimPrefix(r.admin, "http://")}, args...)...)
}

// hangUp sends SIGHUP, and waits until the file was read.
func (r *reloading) hangUp(t testing.TB) {
	t.Helper()
	before := r.reloads(t, "ok")
	r.signal(t, syscall.SIGHUP)
	if !await(t, readyWithin, func() bool { return r.reloads(t, "ok") > before }) {
		t.Fatal("SIGHUP had nothing read")
	}
}

// order is what POST /v1/reload is answered.
func (r *reloading) order(t testing.TB) (status int, text string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, r.admin+"/v1/reload", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := adminClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// ready is /readyz?verbose, which must be 200.
func (r *reloading) ready(t testing.TB) string {
	t.Helper()
	status, text := fetch(t, r.admin+"/readyz?verbose")
	if status != http.StatusOK {
		t.Errorf("readyz: got %d %s", status, text)
	}
	return text
}

// session is a legacy client that uses its session, with a standing stream beside it.
type standing struct {
	*legacyClient
	ended atomic.Bool // the stream
	end   context.CancelFunc
}

func (r *reloading) stand(t testing.TB) *standing {
	t.Helper()
	s := &standing{legacyClient: openSession(t, r.url(), "")}
	ctx, end := context.WithCancel(t.Context())
	s.end = end
	t.Cleanup(end)
	response, err := s.send(ctx, http.MethodGet, r.url(), "")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("a session's stream: %v, %v", response, err)
	}
	go func() {
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body) // its end is what is looked for
		s.ended.Store(true)
	}()
	return s
}

// use asks something in the session.
func (s *standing) use(t testing.TB, url string) {
	got, err := s.ask(t.Context(), url, "tools/list", map[string]any{})
	if err != nil || got.Error != nil {
		t.Errorf("in a session: got %s, %v", got.whole, err)
	}
}

// list makes a plain call.
func (r *reloading) list(t testing.TB) {
	got, err := r.client.send(t, r.url(), "tools/list", "", map[string]any{})
	if err != nil || got.status != http.StatusOK {
		t.Errorf("a plain call: got %v, %v", got, err)
	}
}

// make has a call of "work" become a task.
func (r *reloading) make(t testing.TB, call string) (id string) {
	t.Helper()
	got, err := r.client.send(t, r.url(), "tools/call", "work", map[string]any{"name": "work", "arguments": map[string]any{"call": call}})
	if err != nil || got.Result.TaskID == "" {
		t.Errorf("making a task: got %v, %v, want its handle", got, err)
	}
	return got.Result.TaskID
}

// wantDone fails the test unless a task ends with its call's result.
func (r *reloading) wantDone(t testing.TB, id, call string) {
	t.Helper()
	var last answer
	if !await(t, readyWithin, func() bool {
		got, err := r.client.poll(t, r.url(), id)
		var whole struct {
			Result struct {
				Status string
				Result json.RawMessage
			}
		}
		last = got
		return err == nil && json.Unmarshal([]byte(got.body), &whole) == nil && whole.Result.Status == "completed" && string(whole.Result.Result) == r.tool.result(call)
	}) {
		t.Errorf("%s: got %v, want its result", call, last)
	}
}
