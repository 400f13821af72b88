package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	errCancelled = errors.New("fleet: the client cancelled the call")
	errEnded     = errors.New("fleet: session ended")
)

// A talk is what runs in one session: its calls under way, their streams, and what was
// asked of the client.
type talk struct {
	mu      sync.Mutex // guards the fields below
	over    bool
	feeds   []*feed
	running map[string]context.CancelCauseFunc // by the JSON-RPC id of the call
	asked   int
	asks    map[string]chan call // by the JSON-RPC id of the request
}

func newTalk() *talk {
	return &talk{running: map[string]context.CancelCauseFunc{}, asks: map[string]chan call{}}
}

// begin notes a call and its stream. The caller runs done when the call has ended.
func (t *talk) begin(id json.RawMessage, f *feed, cancel context.CancelCauseFunc) (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		cancel(errEnded)
		f.end()
	}
	t.feeds = append(t.feeds, f)
	t.running[string(id)] = cancel
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.running, string(id))
		cancel(nil)
	}
}

// find returns the stream of an event id, and how many of its events there were with it.
func (t *talk) find(eventID string) (f *feed, n int, ok bool) {
	name, number, _ := strings.Cut(eventID, "_")
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.feeds, func(f *feed) bool { return f.name == name && name != "" })
	if i < 0 || !t.feeds[i].has(n) {
		return nil, 0, false
	}
	return t.feeds[i], n + 1, true
}

// cancel ends the call of that id, if it is under way.
func (t *talk) cancel(id json.RawMessage) (found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stop, found := t.running[string(id)]
	if found {
		stop(errCancelled)
	}
	return found
}

// end ends every call and every stream.
func (t *talk) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, stop := range t.running {
		stop(errEnded)
	}
	for _, f := range t.feeds {
		f.end()
	}
}

// leave ends the connections of all streams, and counts them.
func (t *talk) leave(how parting) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.feeds {
		if f.leave(how) {
			n++
		}
	}
	return n
}
