package stdio

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func ofPrincipals(o *Options, t *timing) {
	o.Isolation = IsolatePrincipal
	t.quiet, t.sign = 40*time.Millisecond, time.Second
}

// freeze stops the process of a session, with a call in flight, and waits until that has shown.
func (r *rig) freeze(c *client) (pid int, hanging *events) {
	r.t.Helper()
	r.mu.Lock()
	pid = r.sessions[c.session].peer.process.Pid()
	r.mu.Unlock()
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	hanging = c.begin("7", "echo", "late")
	r.eventually("it is known", func() bool { return strings.HasSuffix(r.Silence(), "pid "+strconv.Itoa(pid)) })
	return pid, hanging
}

func TestProcessThatDoesNotAnswerIsGivenNothingNew(t *testing.T) {
	r := newRig(t, "server", ofPrincipals)
	c := r.open("a")
	if r.Silence() != "" || r.Retires(c.session) {
		t.Errorf("at first: %q", r.Silence())
	}
	pid, hanging := r.freeze(c)
	if !r.Retires(c.session) {
		t.Error("new calls are to begin at it")
	}
	other := r.open("a")
	if got := other.call("echo", "here"); got != "here" || r.starts() != 2 || r.Retires(other.session) {
		t.Errorf("got %q after %d starts", got, r.starts())
	}
	_ = syscall.Kill(pid, syscall.SIGCONT)
	if got := hanging.text(); got != "late" {
		t.Errorf("got %q, want its call to go on", got)
	}
	r.eventually("that it answers is known", func() bool { return r.Silence() == "" })
	for _, line := range []string{"does not answer", "answers again"} {
		if n := strings.Count(r.log.String(), line); n != 1 {
			t.Errorf("%q is logged %d times", line, n)
		}
	}
}

// Where no other may be started it keeps what it has, and what is new.
func TestProcessThatDoesNotAnswerStaysWhereNoOtherMayBeStarted(t *testing.T) {
	r := newRig(t, "server", ofPrincipals, func(o *Options, _ *timing) { o.MaxProcesses = 1 })
	c := r.open("a")
	pid, hanging := r.freeze(c)
	if r.Retires(c.session) {
		t.Error("new calls are to begin elsewhere")
	}
	other := r.open("a")
	_ = syscall.Kill(pid, syscall.SIGCONT)
	if got := hanging.text() + other.call("echo", " and here"); got != "late and here" || r.starts() != 1 {
		t.Errorf("got %q after %d starts", got, r.starts())
	}
}

func TestProcessThatDoesNotAnswerEndsWithItsLastSession(t *testing.T) {
	r := newRig(t, "server", ofPrincipals, func(_ *Options, t *timing) { t.sweep = 20 * time.Millisecond })
	c := r.open("a")
	r.freeze(c)
	if response := r.reach(r.request("DELETE", c.session, "a", "")); response.Status != 200 {
		t.Errorf("DELETE: %d", response.Status)
	}
	r.eventually("it is ended", func() bool { return r.processes() == 0 })
	if !strings.Contains(r.log.String(), "ended by berth, it does not answer") {
		t.Error("it is not said why")
	}
}

// A tool that takes its time is none that does not answer: its process is asked again and again.
func TestSlowToolIsNoSilenceOfItsProcess(t *testing.T) {
	r := newRig(t, "server", ofPrincipals)
	c := r.open("a")
	c.begin("7", "hang", "").message()
	r.eventually("it was asked thrice", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.sessions[c.session].peer.next >= 5 // after initialize and the call
	})
	if r.Silence() != "" || strings.Contains(r.log.String(), "does not answer") {
		t.Errorf("got %q", r.Silence())
	}
}
