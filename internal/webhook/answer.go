package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

// Outcome is what came of an attempt, as metrics name it.
type Outcome string

const (
	Delivered   Outcome = "delivered"   // 2xx
	Rejected    Outcome = "rejected"    // 4xx or 5xx
	Redirected  Outcome = "redirected"  // 3xx, which is not followed
	Gone        Outcome = "gone"        // 410: the receiver wants no messages any more
	Unreachable Outcome = "unreachable" // no connection, or none that lasted
	TimedOut    Outcome = "timed_out"   // no answer in time
	Forbidden   Outcome = "forbidden"   // its address is none that messages may go to; nothing was sent
)

// Outcomes are all of them.
func Outcomes() []string {
	return []string{string(Delivered), string(Rejected), string(Redirected), string(Gone), string(Unreachable), string(TimedOut), string(Forbidden)}
}

// Answer is what came of an attempt.
type Answer struct {
	Outcome Outcome
	After   time.Duration // how long the receiver asks to be left alone (Retry-After); 0: it does not say
	Err     error         // why it is not Delivered; nothing of the URL but its host and port stands in it
	status  int           // 0: none came
}

func answered(status int, retryAfter string, sent time.Time) Answer {
	a := Answer{Outcome: Rejected, status: status}
	switch {
	case status/100 == 2:
		return Answer{Outcome: Delivered, status: status}
	case status/100 == 3:
		a.Outcome = Redirected
	case status == http.StatusGone:
		a.Outcome = Gone
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		a.After = waitOf(retryAfter, sent)
	}
	a.Err = fmt.Errorf("the receiver answered %d", status)
	return a
}

// failed is what came of an attempt without an answer. What net/http says begins with the URL.
func failed(err error) Answer {
	if whole, ok := errors.AsType[*url.Error](err); ok {
		err = whole.Err
	}
	switch {
	case errors.Is(err, ErrForbidden):
		return Answer{Outcome: Forbidden, Err: err}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return Answer{Outcome: TimedOut, Err: errors.New("no answer in time")}
	}
	return Answer{Outcome: Unreachable, Err: err}
}

// errNoHTTP stands for whatever net/http has against an answer, which it repeats; the receiver may have
// the URL in there.
var errNoHTTP = errors.New("what the receiver answered is not HTTP, or its header is too large")

// unanswered is why a receiver that was spoken to has not answered, without anything that it has sent.
func unanswered(err error) error {
	if ofConn, ok := errors.AsType[*net.OpError](err); ok {
		return ofConn
	}
	for _, plain := range []error{context.DeadlineExceeded, os.ErrDeadlineExceeded, context.Canceled, io.EOF, io.ErrUnexpectedEOF, http.ErrSchemeMismatch} {
		if errors.Is(err, plain) {
			return plain
		}
	}
	return errNoHTTP
}

// IsTrouble reports whether other messages would fare alike: one that is rejected may be at fault itself.
func (a Answer) IsTrouble() bool {
	switch a.Outcome {
	case Delivered, Gone:
		return false
	case Rejected:
		return a.status >= 500 || a.status == http.StatusTooManyRequests
	}
	return true
}

// waitOf reads Retry-After: seconds, or a date (RFC 9110, 10.2.3). More seconds than fit count as the most that do; what is neither
// says nothing.
func waitOf(retryAfter string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(retryAfter, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(retryAfter); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}
