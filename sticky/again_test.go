package sticky

import (
	"testing"
	"testing/synctest"
	"time"
)

// A server that was restarted may count its ids anew: a task that it hands out under the id of one that is over is another task, at every
// berth, and counts.
func TestAnIDThatIsHandedOutAgainIsOfAnotherTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{Near: 10})
		other, third := over(b.store, Options{}), over(b.store, Options{Near: 10})
		b.mustBind(t, task("1"), "a", time.Minute)
		b.Observe(task("1"), new(b.owns(t, "a", task("1"), SourceBound)), given())
		pass(time.Second)
		b.counts(t, "a", 0, 0)
		third.owns(t, "a", task("1"), SourceBound) // a copy of it
		b.mustBind(t, task("1"), "a", 2*time.Hour)
		b.counts(t, "a", 1, 0)
		if got := other.owns(t, "a", task("1"), SourceBound); got.Status != "" || got.EndedCounting() || time.Until(got.Expires) < time.Hour {
			t.Errorf("another berth has %+v", got)
		}
		if got, err := third.Latest(t.Context(), task("1")); err != nil || got.Status != "" {
			t.Errorf("one that knew the former has %+v, %v", got, err)
		}
		pass(time.Hour + 30*time.Minute)
		other.owns(t, "a", task("1"), SourceBound)
		other.counts(t, "a", 1, 0)
	})
}

// So is a session, with what it takes to open it anew.
func TestAnIDThatIsHandedOutAgainIsOfAnotherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{SessionIdle: time.Hour})
		bind := func(version, handshake string) {
			if err := b.BindBeside(t.Context(), session("1"), Binding{Upstream: "a", Version: version}, 0, Beside{Handshake: handshake}); err != nil {
				t.Fatal(err)
			}
		}
		is := func(version, handshake string) {
			t.Helper()
			got := b.owns(t, "a", session("1"), SourceBound)
			if kept, err := b.Handshake(t.Context(), session("1")); err != nil || string(kept) != handshake || got.Version != version {
				t.Errorf("got %+v, kept %s, %v; want %s, %s", got, kept, err, version, handshake)
			}
		}
		bind("1", "one")
		pass(time.Minute)
		bind("2", "two")
		is("2", "two")
		pass(time.Hour + time.Minute)
		b.unknown(t, session("1"))
		bind("3", "three")
		is("3", "three")
	})
}

// A refresh that was told of the task which had the id before is written over no other.
func TestALateRefreshOfTheTaskThatHadTheIDBeforeIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBerth(t, "memory:", Options{Near: 10}, 0) // what waits is written later
		b.mustBind(t, task("1"), "a", time.Hour)
		before := b.owns(t, "a", task("1"), SourceBound)
		time.Sleep(time.Second)
		b.mustBind(t, task("1"), "a", time.Hour)
		b.Observe(task("1"), &before, given())
		if near, ok := b.local.near.Get(task("1")); !ok || near.Status != "" {
			t.Errorf("this berth has %+v", near)
		}
		b.run(t)
		pass(time.Second)
		b.counts(t, "a", 1, 0)
		if got := b.owns(t, "a", task("1"), SourceBound); got.Status != "" {
			t.Errorf("got %+v", got)
		}
	})
}

// The same with the store away; and what its stream tells again of a task that has ended in its session is that one.
func TestWhichOfTwoBindingsOfOneOwnerCounts(t *testing.T) {
	bound := func(made int64, session, status string, until int64) entry {
		return entry{key: task("1"), binding: Binding{Upstream: "a", Made: made, Session: session, Status: status, Until: until}}
	}
	for name, c := range map[string]struct {
		stands, next entry
		replaces     bool
	}{
		"a running task, and another":                {bound(1, "", "working", 9), bound(2, "", "working", 9), true},
		"one of the same time":                       {bound(1, "", "working", 9), bound(1, "", "working", 9), false},
		"an ended one, and another":                  {bound(1, "", "completed", 0), bound(2, "", "working", 9), true},
		"the same in another session":                {bound(1, "s", "completed", 0), bound(2, "t", "working", 9), true},
		"the same in one session":                    {bound(1, "s", "completed", 9), bound(2, "s", "working", 9), false},
		"a running one in one session":               {bound(1, "s", "working", 9), bound(2, "s", "working", 9), true},
		"an ended one, told as ended":                {bound(1, "", "completed", 0), bound(2, "", "completed", 9), false},
		"one that an older berth bound":              {bound(0, "", "", 0), bound(2, "", "working", 9), true},
		"one that was handed out, and one asked for": {bound(1, "", "", 9), entry{key: task("1"), binding: Binding{Upstream: "a", Made: 2, Asked: true}}, false},
		"another's": {bound(1, "", "", 9), entry{key: task("1"), binding: Binding{Upstream: "b", Made: 2}}, false},
		"a claim":   {entry{key: task("1").Claim(), binding: Binding{Upstream: "a", Made: 1}}, entry{key: task("1").Claim(), binding: Binding{Upstream: "a", Made: 2}}, false},
	} {
		if got := c.next.replaces(c.stands.binding); got != c.replaces {
			t.Errorf("%s: got %v", name, got)
		}
		var p pending
		p.add(c.stands)
		p.add(c.next)
		if got, _ := p.get(c.next.key); (got == c.next.binding) != (c.replaces || c.next == c.stands) {
			t.Errorf("%s: pending is %+v", name, got)
		}
	}
}

// A task that has ended, and is told again by the stream that it was made in, counts no more at the berth that serves that.
func TestAnEndedTaskThatIsToldAgainIsNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{Near: 10})
		again := over(b.store, Options{Near: 10})
		made := Binding{Upstream: "a", Session: "s"}
		if err := b.Bind(t.Context(), task("1"), made, time.Hour); err != nil {
			t.Fatal(err)
		}
		b.Observe(task("1"), new(b.owns(t, "a", task("1"), SourceBound)), given())
		pass(time.Second)
		b.counts(t, "a", 0, 0)
		for _, berth := range []*berth{b, again} {
			if err := berth.Bind(t.Context(), task("1"), made, time.Hour); err != nil {
				t.Fatal(err)
			}
			berth.counts(t, "a", 0, 0)
			if got, err := berth.Latest(t.Context(), task("1")); err != nil || got.Status != "completed" {
				t.Errorf("got %+v, %v", got, err)
			}
		}
	})
}
