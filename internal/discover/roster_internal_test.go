package discover

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

var rules = Rules{EmptyGrace: 30 * time.Second, Linger: time.Minute, Silent: 40 * time.Second, ForgetAfter: time.Hour}

// story is a roster and the time.
type story struct {
	*roster
	now   time.Time
	holds map[string]Hold
}

func begin() *story { return &story{newRoster(rules), time.Unix(1e9, 0), map[string]Hold{}} }

func of(names ...string) (list []Instance) {
	for _, name := range names {
		name, drains := strings.CutSuffix(name, "-")
		list = append(list, Instance{Name: name, Draining: drains, URL: &url.URL{Scheme: "http", Host: name}})
	}
	return list
}

// shown are the names of all, those that drain with "-".
func (s *story) shown() string {
	var names []string
	for _, i := range s.instances() {
		if i.Draining {
			i.Name += "-"
		}
		names = append(names, i.Name)
	}
	return strings.Join(names, " ")
}

// hold counts what an instance has now, unless the test says when it was counted.
func (s *story) hold(name string) Hold {
	h := s.holds[name]
	if h.Counted.IsZero() {
		h.Counted = s.now
	}
	return h
}

// passes lets time pass in steps, as Members does.
func (s *story) passes(d time.Duration) (forgotten []string) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(time.Second)
		s.confirm(s.now)
		for name, why := range s.forget(s.hold, s.now).Forgotten {
			forgotten = append(forgotten, name+": "+why)
		}
	}
	slices.Sort(forgotten)
	return forgotten
}

func (s *story) expect(t *testing.T, want string) {
	t.Helper()
	if got := s.shown(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhoLeavesDrainsUntilNothingIsHeldThere(t *testing.T) {
	s := begin()
	s.take(of("a", "b"), s.now)
	s.holds["a"] = Hold{Owned: 2}
	s.take(of("b"), s.now)
	s.expect(t, "a- b")
	if got := s.passes(59 * time.Minute); got != nil {
		t.Errorf("while it owns something: got %v forgotten", got)
	}
	s.holds["a"] = Hold{}
	if got := s.passes(59 * time.Second); got != nil {
		t.Errorf("before another berth knows that it left: got %v forgotten", got)
	}
	s.holds["a"] = Hold{Owned: 1}
	if got := fmt.Sprint(s.passes(time.Second)); got != "[a: it left too long ago]" {
		t.Errorf("got %s", got)
	}
	s.holds["a"] = Hold{}
	s.take(of("a", "b"), s.now)
	s.take(of("b"), s.now)
	if got := fmt.Sprint(s.passes(2 * time.Minute)); got != "[a: nothing is held there]" {
		t.Errorf("got %s", got)
	}
	s.expect(t, "b")
}

func TestWhoLeftAndDoesNotAnswerIsForgotten(t *testing.T) {
	s := begin()
	s.take(of("a", "b"), s.now)
	s.holds["a"], s.holds["b"] = Hold{Owned: 2, Silent: 39 * time.Second}, Hold{Silent: time.Hour}
	s.take(of("b"), s.now)
	if got := s.passes(5 * time.Second); got != nil {
		t.Errorf("got %v forgotten", got)
	}
	s.holds["a"] = Hold{Owned: 2, Silent: 40 * time.Second}
	if got := fmt.Sprint(s.passes(time.Second)); got != "[a: it does not answer any more]" {
		t.Errorf("got %s", got)
	}
	s.expect(t, "b")
}

// What was counted before an instance left knows nothing of what it was given last.
func TestWhoLeftIsForgottenOnceCountedAgain(t *testing.T) {
	s := begin()
	s.take(of("a"), s.now)
	s.holds["a"] = Hold{Counted: s.now}
	s.passes(time.Second)
	s.take(of("b"), s.now)
	if got := s.passes(5 * time.Minute); got != nil {
		t.Errorf("counted before it left: got %v forgotten", got)
	}
	s.holds["a"] = Hold{Counted: s.now}
	if got := s.passes(5 * time.Minute); got != nil {
		t.Errorf("counted once since it left: got %v forgotten", got)
	}
	s.holds["a"] = Hold{}
	if got := fmt.Sprint(s.passes(time.Second)); got != "[a: nothing is held there]" {
		t.Errorf("counted again: got %s", got)
	}
}

func TestNobodyKnowsWhatIsHeld(t *testing.T) {
	s := begin()
	s.take(of("a", "b"), s.now)
	s.holds["a"] = Hold{Owned: -1}
	s.take(of("b"), s.now)
	if got := fmt.Sprint(s.passes(2 * time.Hour)); got != "[a: it left too long ago]" {
		t.Errorf("got %s", got)
	}
}

func TestWhoIsBackTakesWorkAgain(t *testing.T) {
	s := begin()
	s.take(of("a", "b"), s.now)
	if c := s.take(of("b-"), s.now); fmt.Sprint(c.Left, c.Drains) != "[a] [b]" {
		t.Errorf("got %+v", c)
	}
	s.expect(t, "a- b-")
	s.passes(30 * time.Second)
	if c := s.take(of("a", "b"), s.now); fmt.Sprint(c.Back, c.Joined) != "[a b] []" {
		t.Errorf("got %+v", c)
	}
	s.expect(t, "a b")
	if got := s.passes(time.Hour); got != nil {
		t.Errorf("got %v forgotten", got)
	}
}

// An instance is what its name says: at another URL it is the same one.
func TestWhoMovedIsToldOnce(t *testing.T) {
	s := begin()
	s.take(of("a", "b"), s.now)
	list := of("a", "b")
	list[1].URL = list[0].URL
	for i, want := range []string{"[b] [] []", "[] [] []"} {
		if c := s.take(list, s.now); fmt.Sprint(c.Moved, c.Joined, c.Left) != want {
			t.Errorf("answer %d: got %+v", i, c)
		}
	}
	s.expect(t, "a b")
}

// One empty answer is a name server's restart more often than the end of a fleet.
func TestAnEmptyAnswerCountsOnceItHasStood(t *testing.T) {
	s := begin()
	s.take(of("a", "b"), s.now)
	for range 3 {
		s.take(nil, s.now)
		s.passes(29 * time.Second)
		s.expect(t, "a b")
		s.take(of("a", "b"), s.now)
	}
	s.take(nil, s.now)
	s.passes(20 * time.Second)
	s.unsure() // nobody confirmed it
	s.passes(time.Hour)
	s.expect(t, "a b")
	s.take(nil, s.now)
	s.holds["a"] = Hold{Owned: 1}
	s.passes(30 * time.Second)
	s.expect(t, "a- b-")
	s.passes(2 * time.Minute)
	s.expect(t, "a-")
	s.take(of("c"), s.now)
	s.expect(t, "a- c")
}

// What other berths tell of may own something here, and is given nothing.
func TestWhatOthersTellOfDrains(t *testing.T) {
	s := begin()
	s.take(of("a"), s.now)
	if fmt.Sprint(s.hear(of("a", "b", "c"), s.now), s.hear(of("b"), s.now)) != "[b c] []" {
		t.Error("what is news is not told apart")
	}
	s.expect(t, "a b- c-")
	if c := s.take(of("a", "b"), s.now); fmt.Sprint(c.Joined, c.Back) != "[b] []" {
		t.Errorf("got %+v", c)
	}
	s.expect(t, "a b c-")
	s.passes(time.Minute + time.Second)
	s.expect(t, "a b")
}

func TestWithoutASourceAllDrain(t *testing.T) {
	s := begin()
	s.take(of("a", "b"), s.now)
	s.part(s.now)
	s.expect(t, "a- b-")
}
