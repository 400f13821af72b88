package relay

import (
	"errors"
	"fmt"

	"berth/internal/exchange"
)

var (
	// ErrGone says that the addressee is not there, or does not take what is passed to it. It has
	// not executed the request.
	ErrGone = errors.New("relay: the other berth is gone")

	// ErrLost says that the addressee was lost after it had taken the request, or that the store
	// has lost the exchange: whether the request was executed is not known.
	ErrLost = errors.New("relay: the exchange with the other berth was lost")

	// ErrBusy says that the addressee answers as many requests as it may. It has not executed this one.
	ErrBusy = errors.New("relay: the other berth has too much to answer")

	// ErrTooLarge says that a request's body has more than MaxBody bytes.
	ErrTooLarge = fmt.Errorf("relay: a body of more than %d bytes", MaxBody)
)

var (
	errSelf   = errors.New("relay: a berth passes nothing on to itself")
	errLeft   = errors.New("relay: this berth is leaving")
	errLate   = errors.New("relay: no answer in time")
	errClosed = errors.New("relay: nobody reads the answer any more")
)

// failure is how an exchange failed at the berth that it was passed to.
type failure struct {
	Text string
	Busy bool // ErrBusy
	Lost bool // ErrLost
	Gone bool `json:",omitempty"` // ErrGone
	exchangeFlags
}

// exchangeFlags are those of an exchange.SendError.
type exchangeFlags struct{ Sent, Refused, TimedOut, Starved, Garbled, Between bool }

func failureOf(err error) *failure {
	f := &failure{Text: err.Error(), Gone: errors.Is(err, ErrGone), exchangeFlags: exchangeFlags{Sent: true}}
	if e, ok := errors.AsType[*exchange.SendError](err); ok {
		f.exchangeFlags = exchangeFlags{e.Sent, e.Refused, e.TimedOut, e.Starved, e.Garbled, e.Between}
	}
	return f
}

// lost is that of an answer that broke off here.
func lost() *failure { return &failure{Lost: true, exchangeFlags: exchangeFlags{Sent: true}} }

// cause is what the sender is told.
func (f *failure) cause() error {
	switch {
	case f.Busy:
		return ErrBusy
	case f.Lost:
		return ErrLost
	case f.Gone && !f.Sent:
		return ErrGone
	}
	return fmt.Errorf("relay: at the other berth: %s", f.Text)
}

func (f *failure) sendError() *exchange.SendError {
	return &exchange.SendError{
		Err: f.cause(), Sent: f.Sent, Refused: f.Refused, TimedOut: f.TimedOut, Starved: f.Starved, Garbled: f.Garbled,
		Between: f.Between || f.Busy || f.Lost,
	}
}
