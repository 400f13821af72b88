package admission

import (
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"berth/internal/limit"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
)

// keeps is what tasks keep: so many bytes, most of them of the one caller.
type keeps struct {
	bytes int64
	one   string
}

func (k keeps) InMemory() int64              { return k.bytes }
func (k keeps) KeepsMuch(caller string) bool { return caller == k.one }

func shortOf(t *testing.T, share float64) *Gate {
	d := New(inbound.Limits{}.WithDefaults(), nil, slog.New(slog.DiscardHandler))
	d.memory = limit.NewMemoryOf(800, func() float64 { return share })
	return d
}

// While memory is short new work is turned away; but where what tasks keep fills it, the caller
// whose keep most alone.
func TestWhoFillsTheMemoryIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		tasks  Keeper
		caller string
		want   int
	}{
		"plain work":            {nil, "two", http.StatusServiceUnavailable},
		"tasks keep little":     {keeps{99, "one"}, "two", http.StatusServiceUnavailable},
		"who fills it":          {keeps{100, "one"}, "one", http.StatusTooManyRequests},
		"another one of theirs": {keeps{100, "one"}, "two", 0},
	} {
		status := 0
		if err := shortOf(t, 0.9).spareMemory(c.tasks, c.caller); err != nil {
			status = fault.Word(err, false).Status
		}
		if status != c.want {
			t.Errorf("%s: got %d, want %d", name, status, c.want)
		}
	}
}

// What costs little is looked at until nothing is left: it may be a poll.
func TestSmallRequestsAreLookedAtWhileMemoryIsShort(t *testing.T) {
	for _, c := range []struct {
		share float64
		body  int
		shed  bool
	}{{0.8, 1 << 20, false}, {0.9, 100, false}, {0.9, inbound.Small + 1, true}, {0.96, 100, true}} {
		call := &inbound.Call{HTTP: &wire.Request{Method: wire.MethodPost, ContentLength: int64(c.body)}}
		if err := shortOf(t, c.share).Admit(call); errors.Is(err, fault.Overloaded) != c.shed {
			t.Errorf("%v of the memory, a body of %d bytes: got %v", c.share, c.body, err)
		}
	}
}
