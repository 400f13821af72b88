package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// failure is what an answer says of its error.
func failure(t *testing.T, body string) (code int, reason, text string) {
	t.Helper()
	var m struct {
		Error struct {
			Code    int
			Message string
			Data    struct{ Reason string }
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return m.Error.Code, m.Error.Data.Reason, m.Error.Message
}

// unopened opens no session, and returns why, which is that no process could be started.
func (r *rig) unopened(caller string) *mcp.Error {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	response, err := r.Send(ctx, r.request(wire.MethodPost, "", caller, opening), 0)
	if err == nil {
		r.t.Fatalf("got %d %s", response.Status, exchangetest.ReadAll(r.t, response))
	}
	failed, _ := errors.AsType[*exchange.SendError](err)
	why, ok := errors.AsType[*mcp.Error](err)
	if !ok || !failed.Unstarted || !failed.Refused || failed.Sent || why.Outcome != mcp.NotExecuted {
		r.t.Fatalf("got %+v, want that it was not started", err)
	}
	return why
}

func TestProcessThatDoesNotStartTakesNothing(t *testing.T) {
	for mode, tc := range map[string]struct {
		change func(o *Options, t *timing)
		part   string
	}{
		"dies":   {func(*Options, *timing) {}, "exit status 3; its stderr ends: no such database"},
		"silent": {func(o *Options, _ *timing) { o.StartTimeout = 50 * time.Millisecond }, "did not answer initialize within 50ms"},
		"none":   {func(o *Options, _ *timing) { o.Command = []string{"/no/such/program"} }, "no such file"},
		"nobody": {func(o *Options, _ *timing) { o.User = "nosuchuser" }, "unknown user"},
	} {
		t.Run(mode, func(t *testing.T) {
			r := newRig(t, mode, tc.change)
			if why := r.unopened(""); why.Status != 502 || why.Code != mcp.CodeInternal || why.Reason != ReasonProcessFailed || !strings.Contains(why.Message, tc.part) {
				t.Errorf("got %+v, want 502 with %q", why, tc.part)
			}
			r.eventually("the process is gone", func() bool { return r.processes() == 0 })
		})
	}
}

func TestRefusedInitializeIsPassedOn(t *testing.T) {
	r := newRig(t, "refusing")
	response := r.reach(r.request(wire.MethodPost, "", "", opening))
	if body := exchangetest.ReadAll(t, response); response.Status != 200 || body != `{"jsonrpc":"2.0","id":"first","error":{"code":-32602,"message":"no"}}` {
		t.Errorf("got %d %s", response.Status, body)
	}
	if got := response.Header.Get(mcp.HeaderSession); got != "" {
		t.Errorf("got session %q", got)
	}
	r.eventually("the process is gone", func() bool { return r.processes() == 0 })
}

func TestDeathFailsWhatIsInFlightAndEndsTheSessions(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	hanging := a.begin(`"h"`, "hang", "")
	hanging.message()
	b.begin("1", "die", "")
	message := hanging.message()
	code, reason, text := failure(t, message)
	if code != mcp.CodeInternal || reason != ReasonProcessExited || !strings.HasSuffix(text, "exit status 3") || !strings.Contains(message, `"id":"h"`) {
		t.Errorf("got %s", message)
	}
	if _, more := hanging.next(); more {
		t.Error("the stream goes on")
	}
	for _, c := range []*client{a, b} {
		if response := c.post(tool("1", "echo", "")); response.Status != 404 {
			t.Errorf("got %d, want 404", response.Status)
		}
	}
	if got := r.open("a").call("echo", "anew"); got != "anew" {
		t.Errorf("opened anew: got %q", got)
	}
}

// What only reads fails with its process as with a connection that broke: who sends it may do so again. What changes something may have done so.
func TestJSONRequestFailsWithItsProcess(t *testing.T) {
	for method, reads := range map[string]bool{"ping": true, "tools/list": true, "logging/setLevel": false} {
		r := newRig(t, "server")
		c := r.open("")
		c.call("deaf", "")
		type end struct {
			response *wire.Response
			err      error
		}
		done := make(chan end, 1)
		go func() {
			request := r.request(wire.MethodPost, c.session, "", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"level":"info"}}`)
			response, err := r.Send(t.Context(), request, 0)
			done <- end{response, err}
		}()
		r.eventually("the request is in flight", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.sessions[c.session].peer.calls) == 1
		})
		r.mu.Lock()
		process := r.sessions[c.session].peer.process
		r.mu.Unlock()
		process.Kill("a test")
		is := <-done
		failed, unanswered := errors.AsType[*exchange.SendError](is.err)
		switch {
		case unanswered != reads, unanswered && (!failed.Sent || failed.TimedOut || failed.Refused):
			t.Errorf("%s: got %v", method, is.err)
		case unanswered:
		default:
			if _, reason, _ := failure(t, exchangetest.ReadAll(t, is.response)); reason != ReasonProcessExited {
				t.Errorf("%s: got reason %q", method, reason)
			}
		}
	}
}

func TestCrashLoopIsToldAtOnce(t *testing.T) {
	r := newRig(t, "dies", func(o *Options, t *timing) { o.Restart, t.backoff = time.Hour, time.Millisecond })
	open := func(status int, reason string) {
		t.Helper()
		why := r.unopened("")
		if why.Status != status || why.Reason != reason || !strings.Contains(why.Message, "no such database") {
			t.Errorf("got %+v, want %d %s with the end of stderr", why, status, reason)
		}
		if (why.RetryAfter > 0) != (status == 503) {
			t.Errorf("to be tried again after %v", why.RetryAfter)
		}
	}
	for range quickDeaths {
		open(502, ReasonProcessFailed)
		r.eventually("the death is known", func() bool { return r.processes() == 0 })
	}
	open(503, ReasonCrashLoop)
	if r.starts() != quickDeaths {
		t.Errorf("started %d times, want %d", r.starts(), quickDeaths)
	}
	if err := r.Trouble(); err == nil || !strings.Contains(err.Error(), "keeps dying") {
		t.Errorf("Trouble: got %v", err)
	}
	r.due()
	open(502, ReasonProcessFailed)
	open(503, ReasonCrashLoop)
}

// What a process says on stderr while it serves a caller is told to nobody else: operators are, and that caller.
func TestStderrIsToldToNoOtherCaller(t *testing.T) {
	r := newRig(t, "server", func(o *Options, t *timing) { o.Restart, t.backoff = time.Hour, time.Millisecond })
	for range quickDeaths {
		if got := r.open("a").call("die", ""); !strings.HasSuffix(got, "its stderr ends: out of luck") {
			t.Errorf("its caller was told %q", got)
		}
		r.eventually("the death is known", func() bool { return r.processes() == 0 })
	}
	if why := r.unopened("b"); why.Reason != ReasonCrashLoop || !strings.HasSuffix(why.Message, "the last time: exit status 3") {
		t.Errorf("another caller was told %+v", why)
	}
	if err := r.Trouble(); err == nil || !strings.HasSuffix(err.Error(), "its stderr ends: out of luck") {
		t.Errorf("operators are told %v", err)
	}
}

// What answers initialize and ends at once is as good as what does not start.
func TestProcessThatDoesNoMoreThanStartIsInACrashLoop(t *testing.T) {
	r := newRig(t, "passing", func(_ *Options, t *timing) { t.backoff = time.Millisecond })
	r.eventually("it is given up", func() bool {
		response, err := r.Send(t.Context(), r.request(wire.MethodPost, "", "", opening), 0)
		if why, ok := errors.AsType[*mcp.Error](err); ok && why.Reason == ReasonCrashLoop {
			return true
		}
		if err == nil {
			response.Body.Close()
		}
		r.eventually("the death is known", func() bool { return r.processes() == 0 })
		return false
	})
	if r.starts() != quickDeaths {
		t.Errorf("started %d times, want %d", r.starts(), quickDeaths)
	}
}

func TestProcessThatHasWorkedIsInNoCrashLoop(t *testing.T) {
	r := newRig(t, "server", func(_ *Options, t *timing) { t.backoff = time.Millisecond })
	for range 2 * quickDeaths {
		c := r.open("")
		c.call("echo", "")
		c.call("die", "")
	}
	if err := r.Trouble(); err != nil {
		t.Errorf("Trouble: got %v", err)
	}
}

func TestBreakerDoublesItsPause(t *testing.T) {
	b := breaker{backoff: time.Second, trial: time.Minute}
	now := time.Unix(1000, 0)
	for i, want := range []time.Duration{0, 1, 2, 4, 8} {
		if wait, ok := b.admit(now); wait != want*time.Second || !ok {
			t.Errorf("after %d deaths: got %v, %v, want %v", i, wait, ok, want*time.Second)
		}
		b.died(now, true)
	}
	if wait, ok := b.admit(now); ok || wait != time.Minute {
		t.Errorf("after %d: got %v, %v", b.deaths, wait, ok)
	}
	now = now.Add(time.Minute)
	if _, ok := b.admit(now); !ok {
		t.Error("no trial")
	}
	if wait, ok := b.admit(now); ok || wait != time.Minute {
		t.Errorf("beside the trial: got %v, %v", wait, ok)
	}
	if b.lived(); b.deaths != 0 {
		t.Errorf("got %d deaths", b.deaths)
	}
}

func TestSessionsOfAProcessThatIsStoppedAreGoneAtOnce(t *testing.T) {
	r := newRig(t, "stubborn", func(o *Options, t *timing) { o.Grace, t.ask = 300*time.Millisecond, 300*time.Millisecond })
	c := r.open("")
	r.mu.Lock()
	r.sessions[c.session].peer.stop("a test")
	r.mu.Unlock()
	if response := c.post(tool("1", "echo", "")); response.Status != 404 {
		t.Errorf("got %d, want 404", response.Status)
	}
}
