package stdio

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"berth/internal/wire"
)

// mayBeAsked is the initialize of a client that may be asked something.
var mayBeAsked = strings.Replace(opening, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)

// ways are how a client leaves a call of its tool's, which goes on.
var ways = map[string]func(c *client){
	"it cancels the call": func(c *client) {
		c.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	},
	"it ends its session": func(c *client) { c.reach(c.request(wire.MethodDelete, c.session, c.caller, "")) },
}

// leftByA is a process that two callers share, of whom one has left a call that its tool goes on with.
func leftByA(t *testing.T, name string, leave func(c *client)) (a, b *client, held *events) {
	r := newRig(t, "server", shared, func(_ *Options, timing *timing) { timing.cancel = 20 * time.Millisecond })
	a, b = r.openAs("a", mayBeAsked), r.openAs("b", mayBeAsked)
	held = a.begin("1", name, "the left call")
	a.eventually("it is called", func() bool { return b.call("held", "") == "1" })
	leave(a)
	return a, b, held
}

// What a call asks that its client has left is put to nobody else, whose answer would be given to it.
func TestQuestionOfACallThatWasLeftIsPutToNobodyElse(t *testing.T) {
	for way, leave := range ways {
		_, b, _ := leftByA(t, "ask later", leave)
		standing := b.listen("")
		hanging := b.begin("2", "hang", "")
		b.call("go on", "")
		b.eventually(way+": it is refused", func() bool { return b.call("refusals", "") == "1" })
		b.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		for m, ok := hanging.next(); ok; m, ok = hanging.next() {
			if strings.Contains(m, "elicitation") {
				t.Errorf("%s: the other's call was asked %s", way, m)
			}
		}
		b.call("touch", "")
		if m := standing.message(); strings.Contains(m, "elicitation") {
			t.Errorf("%s: the other's session was asked %s", way, m)
		}
	}
}

// Nor is what it logs told to anybody else.
func TestLogOfACallThatWasLeftIsToldToNobodyElse(t *testing.T) {
	for way, leave := range ways {
		_, b, _ := leftByA(t, "log later", leave)
		standing := b.listen("")
		going := b.begin("2", "go on", "") // its own stream is there when the left call logs
		if m := going.message(); strings.Contains(m, "the left call") {
			t.Errorf("%s: the other's call heard %s", way, m)
		}
		b.call("touch", "")
		if m := standing.message(); strings.Contains(m, "the left call") {
			t.Errorf("%s: the other's session heard %s", way, m)
		}
	}
}

// Once the process has answered it, the call asks nothing any more.
func TestACallThatWasLeftAndAnsweredIsOver(t *testing.T) {
	a, b, held := leftByA(t, "log later", ways["it cancels the call"])
	b.call("go on", "")
	held.text()
	asking := b.begin("1", "ask", "")
	b.tell(`{"jsonrpc":"2.0","id":` + idOf(t, asking.message()) + `,"result":{}}`)
	if got := asking.text(); got != "1: {}" {
		t.Errorf("got %q", got)
	}
	if a.Retires(b.session) {
		t.Error("the process is kept from what is new")
	}
}

// A session whose client may be asked is opened in another process than a call was left in; what is not used by then ends. Where no
// other may be started, the process takes it, and what is asked is refused.
func TestSessionsThatMayBeAskedAreKeptOutWhereACallWasLeft(t *testing.T) {
	for name, isolation := range map[string]Isolation{"all": IsolateAll, "principal": IsolatePrincipal} {
		r := newRig(t, "server", func(o *Options, timing *timing) {
			o.Isolation, o.MaxProcesses, timing.sweep = isolation, 4, time.Hour
		})
		a := r.openAs("a", mayBeAsked)
		first := a.call("pid", "")
		a.begin("1", "ask later", "").close()
		ways["it cancels the call"](a)
		if !r.Retires(a.session) {
			t.Errorf("%s: what is new is given to the session", name)
		}
		b := r.openAs("a", mayBeAsked)
		if got := b.call("pid", ""); got == first {
			t.Errorf("%s: the next session is in the process with the call that was left", name)
		}
		ways["it ends its session"](a)
		r.sweep()
		r.eventually(name+": the process has ended", func() bool { return r.processes() == 1 })
	}
}

// A process that nobody uses, and that a call was left in, makes place.
func TestAProcessWithACallThatWasLeftMakesPlace(t *testing.T) {
	r := newRig(t, "server", func(o *Options, timing *timing) {
		o.Isolation, o.MaxProcesses, timing.sweep = IsolatePrincipal, 1, time.Hour
	})
	a := r.openAs("a", mayBeAsked)
	first := a.call("pid", "")
	a.begin("1", "ask later", "").close()
	ways["it ends its session"](a)
	if got := r.openAs("a", mayBeAsked).call("pid", ""); got == first {
		t.Error("the next session is in the process with the call that was left")
	}
}

// A process whose clients may not be asked goes on being shared.
func TestACallThatWasLeftKeepsNobodyOutWhoMayNotBeAsked(t *testing.T) {
	r := newRig(t, "server", shared)
	a := r.open("a")
	a.begin("1", "log later", "").close()
	ways["it cancels the call"](a)
	if a.call("pid", "") != r.open("b").call("pid", "") || r.Retires(a.session) {
		t.Error("the next session has another process")
	}
}

// A call that was left and is never answered, as it may be, counts for a while.
func TestACallThatWasLeftCountsForAWhile(t *testing.T) {
	left := &leftCalls{mayAsk: true}
	own := &session{id: "own"}
	left.add(&call{session: own, number: 1, stream: newStream("r1")}, time.Now().Add(time.Hour))
	left.add(&call{session: own, number: 2}, time.Now().Add(time.Hour))
	if left.ofOthers(own) || !left.ofOthers(&session{id: "other"}) || !left.keepsOut() || len(left.calls) != 1 {
		t.Errorf("got %v", left.calls)
	}
	left.add(&call{session: own, number: 1, stream: newStream("r1")}, time.Now())
	if left.any() || len(left.calls) != 0 {
		t.Errorf("when its time is over: got %v", left.calls)
	}
	for n := range int64(maxLeft + 5) {
		left.add(&call{session: own, number: n, stream: newStream("r1")}, time.Now().Add(time.Hour))
	}
	if len(left.calls) != maxLeft {
		t.Errorf("%d are remembered", len(left.calls))
	}
}

// An ended session, whose streams may have kept megabytes, does not stay in memory for its call that was left.
func TestACallThatWasLeftKeepsNoSession(t *testing.T) {
	left := &leftCalls{}
	gone := func() weak.Pointer[session] {
		s := &session{id: "ended", kept: []*stream{newStream("r1")}}
		left.add(&call{session: s, number: 1, stream: s.kept[0]}, time.Now().Add(time.Hour))
		return weak.Make(s)
	}()
	runtime.GC()
	if gone.Value() != nil || !left.any() {
		t.Error("the session stays, or its call is forgotten")
	}
}

// What is said while no call is in flight may be of one that was left: it is for its own session alone.
func TestWhatIsSaidInNoCallMayBeOfOneThatWasLeft(t *testing.T) {
	own, other := &session{id: "own"}, &session{id: "other"}
	left := &leftCalls{}
	left.add(&call{session: own, number: 1, stream: newStream("r1")}, time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		sessions  map[*session]struct{}
		ambiguous bool
	}{
		"its own session": {map[*session]struct{}{own: {}}, false},
		"another one":     {map[*session]struct{}{other: {}}, true},
		"both":            {map[*session]struct{}{own: {}, other: {}}, true},
	} {
		if asker, ambiguous := (byNumber{}).asker("", left, c.sessions); asker != nil || ambiguous != c.ambiguous {
			t.Errorf("%s: got %v, %v", name, asker, ambiguous)
		}
	}
}
