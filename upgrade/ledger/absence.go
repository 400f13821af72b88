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
	same      time.Time // when it was asked for last, and was that one; zero: never
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
		asked := time.Now()
		server, err := e.store.Server(ctx)
		if err == nil {
			e.serves(server, doubts, asked)
			return
		}
	}
}

// unrecognised reports whether it is not known which server serves.
func (e *Epoch) unrecognised() (doubts int, due bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := &e.away
	return a.doubts, a.server == "" || time.Now().Before(a.doubtedTo) || e.isLosing() && a.same.Before(e.lost)
}

// serves notes which server does, which was asked for then, when there had been so many doubts.
func (e *Epoch) serves(server string, doubts int, asked time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := &e.away
	switch {
	case doubts != a.doubts: // it may have been asked before the last one
	case server != "" && a.server == server:
		a.doubtedTo, a.same = time.Time{}, asked
	case !time.Now().Before(a.doubtedTo) && !e.isLosing():
		a.server = server
	default:
		a.server = "" // that one went: its successor is known once nothing is in doubt
	}
}
