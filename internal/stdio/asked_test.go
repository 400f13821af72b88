package stdio

import (
	"strings"
	"sync"
	"testing"

	"berth/internal/wire"
)

// askable is the initialize of a client that may be asked something.
var askable = strings.Replace(opening, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)

// A process does not say which call it asks for: a client that may be asked has one to itself, whatever others of its caller do.
func TestSessionThatMayBeAskedHasAProcessToItself(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = IsolatePrincipal })
	a, b := r.openAs("u", askable), r.openAs("u", askable)
	r.open("u").begin("1", "hang", "").message()
	a.begin("1", "hang", "").message()
	asking := b.begin("2", "ask", "")
	b.tell(`{"jsonrpc":"2.0","id":` + idOf(t, asking.message()) + `,"result":{}}`)
	if got := asking.text(); got != "1: {}" {
		t.Errorf("got %q", got)
	}
	if r.starts() != 3 {
		t.Errorf("%d processes", r.starts())
	}
}

func TestProcessOfASessionThatHasEndedIsGivenToTheNext(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = IsolatePrincipal })
	for range 3 {
		c := r.openAs("u", askable)
		r.reach(r.request(wire.MethodDelete, c.session, "u", ""))
	}
	if r.starts() != 1 {
		t.Errorf("%d processes", r.starts())
	}
}

// A caller has half of the processes to itself: from then on its sessions share those, as evenly as they come.
func TestSessionsThatMayBeAskedShareWhatTheirCallerMayHave(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation, o.MaxProcesses = IsolatePrincipal, 4 })
	var opening sync.WaitGroup
	for range 4 {
		opening.Go(func() { r.openAs("u", askable) })
	}
	opening.Wait()
	if r.starts() != 2 {
		t.Errorf("%d processes", r.starts())
	}
	r.mu.Lock()
	for p := range r.peers {
		if len(p.sessions) != 2 || p.opens != 0 {
			t.Errorf("%d sessions in one, %d more to come", len(p.sessions), p.opens)
		}
	}
	r.mu.Unlock()
	r.openAs("another", askable)
	if r.starts() != 3 {
		t.Errorf("with another caller's: %d processes", r.starts())
	}
}
