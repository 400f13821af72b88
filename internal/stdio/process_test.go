package stdio

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/stdio/process"
)

// gone reports whether no process has this id; a zombie, which its parent is to reap, has none.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z")
}

func TestEnvironmentHoldsNothingElseOfBerths(t *testing.T) {
	t.Setenv("BERTH_SECRET", "x")
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("ALLOWED", "y")
	got := newRig(t, "server").open("").call("environment", "")
	for _, want := range []string{"PYTHONUNBUFFERED=1", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), modeVariable + "=server"} {
		if !strings.Contains("\n"+got+"\n", "\n"+want+"\n") {
			t.Errorf("%s is missing in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "BERTH_SECRET") || strings.Contains(got, "ALLOWED") {
		t.Errorf("got:\n%s", got)
	}
	got = newRig(t, "server", func(o *Options, _ *timing) {
		o.EnvAllow = []string{"ALLOWED"}
		o.Env["PYTHONUNBUFFERED"] = ""
	}).open("").call("environment", "")
	if !strings.Contains(got, "ALLOWED=y\n") || strings.Contains(got, "LANG") || !strings.Contains(got, "PYTHONUNBUFFERED=\n") && !strings.HasSuffix(got, "PYTHONUNBUFFERED=") {
		t.Errorf("with names of its own:\n%s", got)
	}
}

func TestGrandchildrenEndWithTheProcess(t *testing.T) {
	for name, end := range map[string]func(c *client){
		"deleted": func(c *client) { c.reach(c.request("DELETE", c.session, "", "")) },
		"died":    func(c *client) { c.call("die", "") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newRig(t, "server").open("")
			pid, err := strconv.Atoi(c.call("fork", ""))
			if err != nil {
				t.Fatalf("fork: %v", err)
			}
			if gone(pid) {
				t.Fatal("the grandchild does not run")
			}
			end(c)
			c.eventually("the grandchild is gone", func() bool { return gone(pid) })
			c.eventually("the process is gone", func() bool { return c.processes() == 0 })
		})
	}
}

func TestGrandchildThatEscapedHoldsNothingUp(t *testing.T) {
	r := newRig(t, "server", func(_ *Options, t *timing) { t.drain = 50 * time.Millisecond })
	c := r.open("")
	pid, err := strconv.Atoi(c.call("escape", ""))
	if err != nil {
		t.Fatalf("escape: %v", err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if got := c.call("die", ""); !strings.Contains(got, "exit status 3") {
		t.Errorf("got %q", got)
	}
	if gone(pid) {
		t.Error("the grandchild is gone: this shows nothing")
	}
}

func TestStubbornProcessIsKilled(t *testing.T) {
	r := newRig(t, "stubborn", func(o *Options, t *timing) { o.Grace, t.ask = 20*time.Millisecond, 20*time.Millisecond })
	c := r.open("")
	pid, err := strconv.Atoi(c.call("pid", ""))
	if err != nil {
		t.Fatalf("pid: %v", err)
	}
	c.reach(c.request("DELETE", c.session, "", ""))
	r.eventually("it is gone", func() bool { return r.processes() == 0 && gone(pid) })
}

func TestShutdownKillsWhenItsTimeIsOver(t *testing.T) {
	r := newRig(t, "stubborn", func(o *Options, _ *timing) { o.Grace = time.Hour })
	c := r.open("")
	hanging := c.begin("1", "hang", "")
	hanging.message()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := r.Shutdown(ctx); err == nil {
		t.Error("got no error")
	}
	if got := hanging.text(); !strings.Contains(got, "berth shuts down") {
		t.Errorf("the call: got %q", got)
	}
	if response := r.reach(r.request("POST", "", "", opening)); response.Status != 503 {
		t.Errorf("initialize: got %d", response.Status)
	}
}

func TestLineWithoutEndEndsTheProcess(t *testing.T) {
	r := newRig(t, "server")
	if got := r.open("").call("endless", ""); !strings.Contains(got, "a line of its stdout is longer than 4194304 bytes") {
		t.Errorf("got %q", got)
	}
	r.eventually("the process is gone", func() bool { return r.processes() == 0 })
}

// An answer that is too long is the failure of its call, and no other's: of a process that others share least of all.
func TestAnswerThatIsTooLongFailsItsCallAlone(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = IsolateAll })
	a, b := r.open(""), r.open("")
	hanging := b.begin("1", "hang", "")
	hanging.message()
	for _, where := range []string{"first", "last", "last of three"} {
		if got := a.call("huge", where); got != "error: the process's answer is longer than 4194304 bytes" {
			t.Errorf("its id %s: got %.200q", where, got)
		}
	}
	for _, c := range []*client{a, b} {
		if got := c.call("echo", "still there"); got != "still there" {
			t.Errorf("afterwards: got %q", got)
		}
	}
	if n := r.processes(); n != 1 {
		t.Errorf("there are %d processes", n)
	}
	if got := a.call("babble", ""); !strings.Contains(got, "a line of its stdout is longer than 4194304 bytes") {
		t.Errorf("of a line that is no answer: got %.200q", got)
	}
}

// Nobody waits for the answer to a call that was given up: one that is too long is dropped as any other.
func TestAnswerThatIsTooLongAndComesTooLateIsDropped(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = IsolateAll })
	a, b := r.open(""), r.open("")
	a.begin("1", "hang", "").message()
	var given string
	r.mu.Lock()
	for p := range r.peers {
		for n := range p.calls {
			given = strconv.FormatInt(n, 10)
		}
	}
	r.mu.Unlock()
	a.reach(a.request("DELETE", a.session, "", ""))
	if got := b.call("huge", given); got != "answered another" {
		t.Errorf("got %.200q", got)
	}
	if got := b.call("huge", "1000"); !strings.Contains(got, "a line of its stdout is longer than 4194304 bytes") {
		t.Errorf("of an answer to what was never asked: got %.200q", got)
	}
}

// A question that is too long is no answer, whatever words stand in it.
func TestQuestionThatIsTooLongIsNoAnswer(t *testing.T) {
	r := newRig(t, "server")
	if got := r.open("").call("question", ""); !strings.Contains(got, "a line of its stdout is longer than 4194304 bytes") {
		t.Errorf("got %.200q", got)
	}
}

func TestFloodOnStderrIsReadAndNotLogged(t *testing.T) {
	r := newRig(t, "server")
	if got := r.open("").call("flood", ""); got != "flooded" {
		t.Errorf("got %q", got)
	}
	if got := strings.Count(r.log.String(), "says on stderr"); got == 0 || got > 20*process.LinesASecond {
		t.Errorf("got %d lines in the log", got)
	}
}

func TestProcessThatDoesNotReadIsEnded(t *testing.T) {
	r := newRig(t, "server", func(_ *Options, t *timing) { t.stuck = 50 * time.Millisecond })
	c := r.open("")
	c.call("deaf", "")
	big := strings.Repeat("z", 1<<20)
	var waiting []*events
	for range process.MaxQueued>>20 + 1 {
		response := c.post(tool("1", "echo", big))
		if response.Status == 503 {
			break
		}
		waiting = append(waiting, c.stream(response))
	}
	if len(waiting) < 2 || len(waiting) > process.MaxQueued>>20 {
		t.Errorf("got %d calls taken", len(waiting))
	}
	for _, answers := range waiting {
		if got := answers.text(); !strings.Contains(got, "did not read") {
			t.Errorf("got %q", got)
		}
	}
	r.eventually("the process is gone", func() bool { return r.processes() == 0 })
}

// One caller of several cannot have a process ended by what it sends while a tool keeps that from reading: it is refused, and the others have
// room.
func TestWhoFillsAProcessThatOthersShareIsRefusedAlone(t *testing.T) {
	for _, greedy := range []string{"greedy", ""} {
		r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = IsolateAll })
		modest, c := r.open("modest"), r.open(greedy)
		modest.call("deaf", "")
		big, taken := strings.Repeat("z", 1<<20), 0
		for c.post(tool("1", "echo", big)).Status == 200 {
			taken++
		}
		r.mu.Lock()
		p := r.sessions[c.session].peer
		r.mu.Unlock()
		if response := modest.post(tool("1", "echo", big)); taken < 2 || taken > process.MaxQueued>>21 || response.Status != 200 {
			t.Errorf("of %q %d calls were taken, and another's: %d", greedy, taken, response.Status)
		}
		p.process.Kill("a test")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.MaxMemory = 512 << 20 })
	if got := r.open("").call("eat", ""); !strings.Contains(got, "the process ended") {
		t.Errorf("got %q, want a death", got)
	}
}

func TestProcessRunsAsItsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may run processes as others")
	}
	r := newRig(t, "server", func(o *Options, _ *timing) {
		o.User = "nobody"
		o.Command = []string{"sh", "-c", `id -un >&2; exit 1`}
	})
	if why := r.unopened(""); !strings.HasSuffix(why.Message, "its stderr ends: nobody") {
		t.Errorf("got %v", why)
	}
}

func TestProcessThatClosesItsStdoutIsEnded(t *testing.T) {
	r := newRig(t, "server", func(_ *Options, t *timing) { t.ask = 10 * time.Millisecond })
	if got := r.open("").call("mute", ""); !strings.Contains(got, "it closed its stdout") {
		t.Errorf("got %q", got)
	}
}

// Initialize has the id that SDKs' clients give it: some servers answer it under no other. What bears an id that is no number is no answer to it.
func TestInitializeHasTheIDOfSDKs(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) {
		o.Command = []string{"sh", "-c", `read line; echo '{"jsonrpc":"2.0","id":"x","result":{}}'
echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"zero","version":"1"}}}'; exec sleep 1000`}
	})
	r.open("")
}

// Also if the call was written before, and nothing has been since.
func TestProcessThatClosesItsStdinIsEnded(t *testing.T) {
	for name, waits := range map[string]string{"before the call is read": "", "behind it": "read line; read line;"} {
		t.Run(name, func(t *testing.T) { callTheDeaf(t, waits) })
	}
}

// callTheDeaf calls a process that waits for so much, and closes its stdin once the call is under way.
func callTheDeaf(t *testing.T, waits string) {
	underWay := filepath.Join(t.TempDir(), "under way")
	deaf := `read line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'
` + waits + ` until [ -e "$0" ]; do sleep 0.01; done; exec 0<&-; exec sleep 1000`
	r := newRig(t, "server", func(o *Options, t *timing) {
		o.Command = []string{"sh", "-c", deaf, underWay}
		t.ask = 10 * time.Millisecond
	})
	answer := r.open("").begin("1", "text", "x")
	if err := os.WriteFile(underWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := answer.text(); !strings.Contains(got, "it closed its stdin") {
		t.Errorf("got %q", got)
	}
}

// An answer that is no JSON ends the call all the same, and is in no log.
func TestAnswersThatCannotBeReadEndTheirCalls(t *testing.T) {
	r := newRig(t, "server", func(*Options, *timing) {})
	c := r.open("")
	if got := c.call("unreadable", ""); !strings.Contains(got, "the process's answer cannot be read") {
		t.Errorf("got %q", got)
	}
	for _, tool := range []string{"fraction", "string"} {
		if got := c.call(tool, ""); got != "one" {
			t.Errorf("an id as a %s: got %q", tool, got)
		}
	}
	if strings.Contains(r.log.String(), "secret") {
		t.Error("a result is logged")
	}
}

// What a server says that it cannot read is the one call that is in flight, and of several none. What else names no request may be about a notification.
func TestAParseErrorEndsTheOneCallInFlight(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = IsolateAll })
	c := r.open("")
	for _, id := range []string{`"id":null,`, ``} {
		answer, _ := c.begin(`"a"`, "unread", id).next()
		if !strings.Contains(answer, `"id":"a"`) || !strings.Contains(answer, `"error":{"code":-32700,"message":"Parse error"}`) {
			t.Errorf("got %s", answer)
		}
	}
	if got := c.call("invalid", ""); got != "one" {
		t.Errorf("got %q", got)
	}
	other := r.open("")
	other.begin("1", "hang", "")
	c.begin("2", "unread", `"id":null,`)
	if got := other.call("echo", "two"); got != "two" {
		t.Errorf("got %q", got)
	}
	r.eventually("it is logged", func() bool { return strings.Contains(r.log.String(), "an error that names no request") })
	if n := r.InFlight(); n != 2 {
		t.Errorf("%d calls are in flight", n)
	}
}

func TestWhoAnswersWhatIsToldOfALineThatCannotBeRead(t *testing.T) {
	for line, want := range map[string]int64{
		`{"jsonrpc":"2.0","id":7,"result":NaN}`:       7,
		`{"id" : 7 , "jsonrpc":"2.0","error":{"a":}}`: 7,
		`{"jsonrpc":"2.0","result":NaN,"id":7}`:       0,
		`{"jsonrpc":"2.0","id":7,"method":"x",}`:      0,
		`{"result":{"id":7,"error":N},"id":8}`:        0,
		`{"jsonrpc":"2.0","id":{"id":7},"result":N}`:  0,
		`no JSON`: 0,
	} {
		if got := answeredBy([]byte(line)); got != want {
			t.Errorf("%s: got %d, want %d", line, got, want)
		}
	}
}

// A berth that is killed ends nothing itself. The process here heeds neither the end of its stdin
// nor SIGTERM.
func TestProcessDiesWithBerth(t *testing.T) {
	berth := exec.Command(os.Args[0])
	berth.Env = append(os.Environ(), modeVariable+"=berth")
	out, err := berth.StdoutPipe()
	if err != nil {
		t.Fatalf("StdoutPipe: %v", err)
	}
	if err := berth.Start(); err != nil {
		t.Fatalf("Start: %v", err)
	}
	var pid int
	_, err = fmt.Fscan(out, &pid)
	if kill := berth.Process.Kill(); err != nil || kill != nil {
		t.Fatalf("pid: %v; Kill: %v", err, kill)
	}
	_ = berth.Wait()
	(&rig{t: t}).eventually("the process is gone", func() bool { return gone(pid) })
}
