package flow

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/internal/sse"
	"berth/proxy/bridge/legacy"
)

// Replays is whether an upstream tells again what came after an event, as far as was found out. One
// that numbers its events need not (2025-11-25, transports, "Resumability and Redelivery").
type Replays struct {
	mu    sync.Mutex // guards the fields below
	does  bool
	until time.Time     // when it is to be found out again; likewise while that is done
	found chan struct{} // closed once that is done; nil: it is not being done
}

const (
	// ReplaysFor is how long is believed what was found out.
	ReplaysFor = 5 * time.Minute

	// replayTime bounds what a question waits until that is found out.
	replayTime = 500 * time.Millisecond
)

// known is what was found out. look says that the caller, who can, is to find it out, and to note it.
func (r *Replays) known(can bool) (does, look bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case time.Now().Before(r.until):
		return r.does, false
	case can:
		r.does, r.until, r.found = false, time.Now().Add(ReplaysFor), make(chan struct{})
	}
	return false, can
}

func (r *Replays) note(does bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.does = does
	close(r.found)
	r.found = nil
}

// await waits for who is finding it out, and returns what is known then.
func (r *Replays) await(ctx context.Context) (does bool) {
	r.mu.Lock()
	found := r.found
	r.mu.Unlock()
	if found != nil {
		select {
		case <-found:
		case <-ctx.Done():
		}
	}
	does, _ = r.known(false)
	return does
}

// IsReplayed reports whether the upstream is known to replay, so that the flow can be let go of. It is asked for
// what has come already: one that replays tells it, or that somebody else reads the stream. Where nothing came before the last event
// it has nothing to tell: it is not asked, for some servers give a stream to nobody but who has asked last.
func (fl *Flow) IsReplayed(ctx context.Context) bool {
	from, _ := fl.before.Load().(string)
	does, look := fl.replays.known(from != "")
	if look {
		does = fl.tryReplay(ctx, from)
		fl.replays.note(does)
	}
	return does
}

// IsFoundReplayed is IsReplayed that waits while that is found out because of another call.
func (fl *Flow) IsFoundReplayed(ctx context.Context) bool {
	return fl.IsReplayed(ctx) || fl.replays.await(ctx)
}

func (fl *Flow) tryReplay(ctx context.Context, from string) bool {
	ctx, cancel := context.WithTimeout(ctx, replayTime)
	defer cancel()
	last, _ := fl.event.Load().(string)
	response, err := fl.tryResume(ctx, from)
	if err != nil {
		return errors.Is(err, legacy.ErrStands)
	}
	response = response.Kept() // it may be closed while it is read
	defer response.Body.Close()
	stopped := context.AfterFunc(ctx, func() { response.Body.Close() })
	defer stopped()
	events := sse.NewReader(response.Body, legacy.MaxAnswer)
	for {
		e, err := events.Next()
		if err != nil {
			return false
		}
		if id := e.ID(); e.Ends && id == last && id != from {
			return true
		}
	}
}
