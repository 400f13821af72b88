package ledger

import (
	"context"
	"time"
)

// absence is what a store may have lost while it was away: nothing, if the server that is back is the process that went, and
// what a server had not told its replicas yet, if another one serves since.
type absence struct {
	server    string // that served when nothing was in doubt; "": not known
	doubtedTo time.Time
	doubts    int
}

func (a *absence) doubt(until time.Time) {
	a.doubtedTo = until
	a.doubts++
}

// Recognise finds out whether the store was away alone, or another server has come in its place.
func (e *Epoch) Recognise(ctx context.Context) {
	doubts, due := e.unrecognised()
	if !due {
		return
	}
	for range LooksAtOnce {
		server, err := e.store.Server(ctx)
		if err == nil {
			e.serves(server, doubts)
			return
		}
	}
}

// unrecognised reports whether it is not known which server serves.
func (e *Epoch) unrecognised() (doubts int, due bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.away.doubts, e.away.server == "" || time.Now().Before(e.away.doubtedTo)
}

// serves notes which server does, which was asked for when there had been so many doubts.
func (e *Epoch) serves(server string, doubts int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := &e.away
	switch {
	case doubts != a.doubts: // it may have been asked before the last one
	case !time.Now().Before(a.doubtedTo):
		a.server = server
	case server != "" && a.server == server:
		a.doubtedTo = time.Time{}
	default:
		a.server = "" // that one went: its successor is known once nothing is in doubt
	}
}
