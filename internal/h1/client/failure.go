package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"berth/internal/exchange"
)

// unsent is a failure before a connection was there.
func unsent(ctx context.Context, err error) *exchange.SendError {
	e := &exchange.SendError{Err: err, Refused: errors.Is(err, syscall.ECONNREFUSED), Starved: exchange.IsStarved(err)}
	if cause := context.Cause(ctx); cause != nil {
		e.Err = cause
	}
	e.TimedOut = exchange.IsTimeout(err) || exchange.IsTimeout(e.Err)
	return e
}

// failure is how the exchange under way failed by err, before it had an answer.
func (c *conn) failure(err error) *exchange.SendError {
	e := &exchange.SendError{Err: err, Sent: c.net.written.Load() > c.before}
	cause := context.Cause(c.terms.ctx)
	switch {
	case c.late:
		e.Err = exchange.ErrNotInTime
	case cause != nil:
		e.Err = cause
	case !c.used && exchange.RefusesHandshake(err):
		e.Sent = false
	default:
		e.Garbled = !isBreak(err)
	}
	e.Starved = !e.Sent && exchange.IsStarved(err)
	e.TimedOut = exchange.IsTimeout(e.Err) || cause == nil && exchange.IsTimeout(err)
	e.Sent = e.Sent || e.Garbled // who answers has taken something for the request
	return e
}

// isBreak reports whether err is the connection's and says nothing of what was answered.
func isBreak(err error) bool {
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return true
	}
	if errors.Is(err, errUnfit) {
		return true
	}
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, os.ErrDeadlineExceeded} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// errUnfit: a request that cannot be written as one in HTTP.
var errUnfit = errors.New("unfit for HTTP")

func unfit(what, text string) error { return fmt.Errorf("%w: %s %q", errUnfit, what, text) }
