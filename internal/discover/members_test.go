package discover_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/discover"
	"berth/internal/realtest"
)

// told is a source that tells what a test says.
type told chan answer

type answer struct {
	names string // blanks part them; "": none
	err   error
}

func (told) String() string { return "test" }

func (s told) Watch(ctx context.Context, tell func([]discover.Instance, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-s:
			tell(at(a.names), a.err)
		}
	}
}

// rig is members with all that they are given.
type rig struct {
	*discover.Members
	logs  realtest.Journal
	mu    sync.Mutex // guards the fields below
	shown string     // what Changed was given last
	whole bool
	calls int
}

var rules = discover.Rules{EmptyGrace: 30 * time.Second, Linger: time.Minute, Silent: 40 * time.Second, ForgetAfter: time.Hour}

func newRig(t *testing.T) *rig {
	r := new(rig)
	r.Members = discover.New(discover.Options{
		Pool: "p", Holds: func(string) discover.Hold { return discover.Hold{Counted: time.Now()} }, Logger: slog.New(slog.NewTextHandler(&r.logs, nil)),
		Changed: func(all []discover.Instance, answered bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.shown, r.whole, r.calls = worded(all), answered, r.calls+1
		},
	})
	go func() { _ = r.Run(t.Context()) }()
	synctest.Wait()
	return r
}

func (r *rig) changes() int { r.mu.Lock(); defer r.mu.Unlock(); return r.calls }

func (r *rig) expect(t *testing.T, shown string, whole bool) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown != shown || r.whole != whole {
		t.Errorf("got %q, whole: %t, want %q, %t", r.shown, r.whole, shown, whole)
	}
}

func TestMembersFollowTheirSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := newRig(t), make(told)
		r.Follow(discover.Plan{Source: s, Key: "1", Rules: rules})
		s <- answer{err: errors.New("not yet")}
		r.expect(t, "", false)
		s <- answer{names: "a b"}
		r.expect(t, "a, b", true)
		calls := r.changes()
		s <- answer{names: "a b"}
		s <- answer{err: errors.New("not well")}
		s <- answer{err: errors.New("not well")}
		r.expect(t, "a, b", true)
		if st := r.Status(); r.changes() != calls || st.Failure == nil || st.Since.IsZero() || !st.Answered {
			t.Errorf("got %d calls more, %+v, want none, and the failure", r.changes()-calls, st)
		}
		if r.logs.Count("not well") != 1 {
			t.Errorf("got logs\n%s\nwant the failure once", r.logs.String())
		}
		s <- answer{names: "b"}
		r.expect(t, "a drains, b", true)
		time.Sleep(time.Minute + 2*time.Second)
		r.expect(t, "b", true)
		if r.Status().Failure != nil || r.logs.Count("discovered again") != 2 || r.logs.Count("nothing is held there") != 1 {
			t.Errorf("got %+v, logs\n%s", r.Status(), r.logs.String())
		}
		s <- answer{}
		time.Sleep(29 * time.Second)
		r.expect(t, "b", true)
		time.Sleep(2 * time.Second)
		r.expect(t, "b drains", true)
	})
}

// Another source says who is there once it has answered; without one all drain.
func TestMembersChangeTheirSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, first, second := newRig(t), make(told), make(told)
		r.Follow(discover.Plan{Source: first, Key: "1", Rules: rules})
		first <- answer{names: "a b"}
		r.expect(t, "a, b", true)
		r.Follow(discover.Plan{Source: first, Key: "1", Rules: rules})
		r.expect(t, "a, b", true)
		r.Follow(discover.Plan{Source: second, Key: "2", Rules: rules})
		synctest.Wait()
		select {
		case first <- answer{names: "x"}:
			t.Error("the source before is followed still")
		default:
		}
		r.expect(t, "a, b", true)
		if r.Status().Answered {
			t.Error("the new source is said to have answered")
		}
		second <- answer{names: "b c"}
		r.expect(t, "a drains, b, c", true)
		r.Follow(discover.Plan{Rules: rules})
		r.expect(t, "a drains, b drains, c drains", false)
		if got := r.Status().Source; got != "" {
			t.Errorf("got source %q", got)
		}
	})
}

// Who is named no more stays until a source that takes its place has answered: else nobody would take new work meanwhile.
func TestWhoIsNamedNoMoreStaysUntilTheSourceAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := newRig(t), make(told)
		r.Follow(discover.Plan{Named: at("a b c"), Rules: rules})
		r.Follow(discover.Plan{Named: at("c"), Source: s, Key: "1", Rules: rules})
		r.expect(t, "a, b", false)
		s <- answer{err: errors.New("not yet")}
		time.Sleep(time.Hour)
		r.expect(t, "a, b", false)
		if st := r.Status(); st.Answered || !st.Stands {
			t.Errorf("got %+v, want it to be told that they stay", st)
		}
		r.Follow(discover.Plan{Named: at("b c"), Source: s, Key: "1", Rules: rules})
		r.expect(t, "a", false)
		s <- answer{names: "x"}
		r.expect(t, "a drains, x", true)
		r.Follow(discover.Plan{Named: at("c"), Source: s, Key: "1", Rules: rules})
		r.expect(t, "a drains, b drains, x", true)
	})
}

// What has another name by now drains by the former one, by which its tasks are found.
func TestWhoIsRenamedDrainsByTheFormerNameThoughASourceIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := newRig(t), make(told)
		renamed := func(name, to string) []discover.Instance {
			list := at(name)
			list[0].Name = to
			return list
		}
		r.Follow(discover.Plan{Named: at("a b"), Rules: rules})
		r.Follow(discover.Plan{Named: renamed("a", "y"), Source: s, Key: "1", Rules: rules})
		r.expect(t, "a drains, b", false)
		r.Follow(discover.Plan{Named: renamed("b", "z"), Source: s, Key: "1", Rules: rules})
		r.expect(t, "a drains, b drains, y@a", false)
	})
}

// What is waited for before anything is served is asked once, and followed then.
func TestTheFirstAnswerCanBeWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := newRig(t), make(told, 1)
		s <- answer{names: "a"}
		r.Follow(discover.Plan{Source: s, Key: "1", Rules: rules})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.Ask(ctx)
		r.expect(t, "a", true)
	})
}
