//go:build e2e

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// deployLoad is clients of all kinds, each through all berths by turns, that go on until end. What is
// refused, lost or unknown is a failure of the test.
type deployLoad struct {
	t       testing.TB
	client  *modernClient
	urls    []string
	turn    atomic.Int64
	ctx     context.Context
	stop    context.CancelFunc
	workers sync.WaitGroup
	began   time.Time

	calls, polls, ended, used, reopened, failed atomic.Int64
	tasks, sessions, streams                    atomic.Int64 // live
}

func startDeployLoad(t testing.TB, urls []string) *deployLoad {
	d := &deployLoad{t: t, client: newModernClient(t), urls: urls}
	d.ctx, d.stop = context.WithCancel(context.Background())
	t.Cleanup(d.wait)
	for range deployCalls {
		d.workers.Go(d.call)
	}
	for i := range deployTasks {
		d.workers.Go(func() { d.makeTasks(i) })
	}
	for i := range deploySessions {
		d.workers.Go(func() { d.useSession(i) })
	}
	for range deployStreams - deploySessions {
		d.workers.Go(d.subscribe)
	}
	return d
}

func (d *deployLoad) url() string { return d.urls[int(d.turn.Add(1))%len(d.urls)] }

func (d *deployLoad) String() string {
	return fmt.Sprintf("live: %d tasks, %d sessions, %d streams; since the first order: %d calls, %d polls, %d tasks ended, %d calls in sessions, %d streams opened anew; %d failures",
		d.tasks.Load(), d.sessions.Load(), d.streams.Load(), d.calls.Load(), d.polls.Load(), d.ended.Load(), d.used.Load(), d.reopened.Load(), d.failed.Load())
}

// settled reports whether all that is to be there is.
func (d *deployLoad) settled() bool {
	return d.tasks.Load() >= deployTasks*9/10 && d.sessions.Load() == deploySessions && d.streams.Load() == deployStreams
}

// measure counts from now on.
func (d *deployLoad) measure() {
	for _, counter := range []*atomic.Int64{&d.calls, &d.polls, &d.ended, &d.used, &d.reopened} {
		counter.Store(0)
	}
	d.began = time.Now()
}

func (d *deployLoad) wait() {
	d.stop()
	d.workers.Wait()
}

// end stops the load, and fails the test for what was lost.
func (d *deployLoad) end(t testing.TB) {
	t.Helper()
	took := time.Since(d.began)
	t.Logf("%v: %v (%.0f requests/s)", took.Round(time.Millisecond), d, float64(d.calls.Load()+d.polls.Load()+d.used.Load())/took.Seconds())
	if !await(t, readyWithin, d.settled) {
		t.Errorf("some of the load is gone: %v", d)
	}
	d.wait()
	if d.calls.Load() == 0 || d.ended.Load() == 0 || d.used.Load() == 0 || d.reopened.Load() == 0 {
		t.Errorf("there was no load of some kind: %v", d)
	}
}

// fail notes a failure, unless the load is at its end. The first ones are told.
func (d *deployLoad) fail(format string, args ...any) {
	if d.ctx.Err() == nil && d.failed.Add(1) <= 20 {
		d.t.Errorf(format, args...)
	} else if d.ctx.Err() == nil {
		d.t.Fail()
	}
}

// isLate reports whether a berth that looks for races was too busy for what may be asked again.
func isLate(status int, body string) bool {
	return raceEnabled && status == http.StatusServiceUnavailable && strings.Contains(body, `"retryable":true`)
}

func (d *deployLoad) pause(for_ time.Duration) bool {
	select {
	case <-d.ctx.Done():
		return false
	case <-time.After(for_):
		return true
	}
}

func (d *deployLoad) call() {
	for d.pause(100 * time.Millisecond) {
		got, err := d.client.send(d.t, d.url(), "tools/call", "greet", map[string]any{"name": "greet", "arguments": map[string]any{"name": "you"}})
		if isLate(got.status, got.body) {
			continue
		}
		if err != nil || got.status != http.StatusOK || !strings.Contains(got.body, "Hello") {
			d.fail("a call: %v, %v", got, err)
		}
		d.calls.Add(1)
	}
}

// makeTasks makes one task after another, and polls each to its end.
func (d *deployLoad) makeTasks(i int) {
	d.pause(time.Duration(i) * 3 * time.Second / deployTasks)
	for d.ctx.Err() == nil {
		made, err := d.client.send(d.t, d.url(), "tools/call", "slow_compute", slowCompute(4+i%3))
		id := made.Result.TaskID
		if isLate(made.status, made.body) {
			d.pause(time.Second)
			continue
		}
		if err != nil || id == "" {
			d.fail("a creation: %v, %v", made, err)
			return
		}
		d.tasks.Add(1)
		for d.pause(1200 * time.Millisecond) {
			got, err := d.client.poll(d.t, d.url(), id)
			if isLate(got.status, got.body) {
				continue
			}
			d.polls.Add(1)
			if err != nil || got.Result.TaskID != id {
				d.fail("a poll of %s: %v, %v", id, got, err)
				break
			}
			if got.Result.Status == "completed" {
				d.ended.Add(1)
				break
			}
		}
		d.tasks.Add(-1)
	}
}

// legacy sends a message of a session; method "" opens the session's standing stream.
func (d *deployLoad) legacy(session, method, params string) (*http.Response, error) {
	verb, body := http.MethodPost, io.Reader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`))
	switch {
	case method == "":
		verb, body = http.MethodGet, nil
	case strings.HasPrefix(method, "notifications/"):
		body = strings.NewReader(`{"jsonrpc":"2.0","method":"` + method + `"}`)
	}
	request, err := http.NewRequestWithContext(d.ctx, verb, d.url(), body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
		request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	return (&http.Client{Transport: d.client.http.Transport}).Do(request)
}

// useSession opens a session with a standing stream, and calls a tool in it, again and again.
func (d *deployLoad) useSession(i int) {
	response, err := d.legacy("", "initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"deploy","version":"1"}`)
	if err != nil {
		d.fail("initialize: %v", err)
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	session := response.Header.Get("Mcp-Session-Id")
	if response, err = d.legacy(session, "notifications/initialized", ""); err != nil {
		d.fail("initialized: %v", err)
		return
	}
	response.Body.Close()
	d.sessions.Add(1)
	defer d.sessions.Add(-1)
	d.workers.Go(func() { d.listenInSession(session) })
	d.pause(time.Duration(i) * time.Second / deploySessions)
	for d.pause(time.Second) {
		response, err := d.legacy(session, "tools/call", `"name":"who","arguments":{}`)
		if err != nil {
			d.fail("a call in a session: %v", err)
			continue
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if isLate(response.StatusCode, string(body)) {
			continue
		}
		if response.StatusCode != http.StatusOK || !strings.Contains(string(body), `"content"`) {
			d.fail("a call in a session: %d %s", response.StatusCode, body)
		}
		d.used.Add(1)
	}
}

// listenInSession keeps a session's standing stream: what ends in order is opened anew.
func (d *deployLoad) listenInSession(session string) {
	for d.pause(100 * time.Millisecond) {
		response, err := d.legacy(session, "", "")
		if err == nil && response.StatusCode != http.StatusOK {
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if !isLate(response.StatusCode, string(body)) {
				d.fail("a session's stream: %d %s", response.StatusCode, body)
			}
			continue
		}
		if err != nil {
			d.fail("a session's stream: %v", err)
			continue
		}
		d.streams.Add(1)
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		d.streams.Add(-1)
		if err != nil {
			d.fail("a session's stream broke: %v", err)
		}
		d.reopened.Add(1)
	}
}

// subscribe keeps a subscription: it is not to end.
func (d *deployLoad) subscribe() {
	request := modernRequest(d.t, d.url(), "subscriptions/listen", "", map[string]any{"notifications": map[string]any{"toolsListChanged": true}})
	response, err := (&http.Client{Transport: d.client.http.Transport}).Do(request.WithContext(d.ctx))
	if err != nil {
		d.fail("a subscription: %v", err)
		return
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		var said struct{ Method string }
		if ok && json.Unmarshal([]byte(data), &said) == nil && strings.HasSuffix(said.Method, "acknowledged") {
			d.streams.Add(1)
			defer d.streams.Add(-1)
		}
	}
	d.fail("a subscription ended: %d, %v", response.StatusCode, lines.Err())
}
