package reply

import (
	"cmp"
	"fmt"
	"time"

	"berth/internal/lapse"
	"berth/internal/wire"
	"berth/proxy/fault"
)

// Writer is the answer to one request. It is for one goroutine.
type Writer struct {
	Client   wire.Client
	Stall    time.Duration   // that one write to the client may take
	Most     int64           // bytes of an answer, and of an event of a stream; 0: any number
	Silence  time.Duration   // on an event stream before a comment is sent; 0: 15 s
	Draining <-chan struct{} // closed when connections are not to be kept
	Since    time.Time       // when the request began; zero: it is not known

	Early *Early // what keeps the client waiting; nil: nothing

	Status  int       // 0: no header was written yet
	Begun   time.Time // when it was
	Written int64     // bytes of the body
	Failed  error     // why an answer of berth's own could not be written

	Reads interface{ HasLeft() bool } // tells whether the client has left, of an answer that is read on without it; nil: there is nobody to ask
	lost  *Given                      // what the client was given before it left; nil: it did not, or has all

	limited time.Time // when the connection's deadline was set
}

// Header is what WriteHeader sends.
func (w *Writer) Header() *wire.Header { return w.Client.Header() }

// NewKeepAlive returns the clock of an event stream that begins now.
func (w *Writer) NewKeepAlive() *KeepAlive {
	interval := w.KeepAlive()
	return &KeepAlive{interval, time.NewTimer(interval)}
}

// KeepAlive is how long an event stream may be silent before it gets a comment.
func (w *Writer) KeepAlive() time.Duration { return cmp.Or(w.Silence, defaultKeepAlive) }

// WriteHeader sends the status, once.
func (w *Writer) WriteHeader(status int) {
	select {
	case <-w.Draining:
		w.Header().Set("Connection", "close")
	default:
	}
	w.noteDeparture()
	w.Status, w.Begun = status, w.now()
	w.Client.WriteHeader(status)
}

// now is the time, as the request's own clock tells it.
func (w *Writer) now() time.Time { return lapse.Now(w.Since) }

// writeAtOnce is the most that one deadline is for: a client that takes it within
// WriteStall is slow, not gone.
const writeAtOnce = 16 << 10

// Write writes to the client. A client that takes nothing for WriteStall is gone.
func (w *Writer) Write(b []byte) error { return w.writeFrom(w.now(), b) }

// writeFrom is Write by who has just looked at the clock.
func (w *Writer) writeFrom(now time.Time, b []byte) error {
	for len(b) > 0 {
		part := b[:min(len(b), writeAtOnce)]
		b = b[len(part):]
		w.LimitWriteFrom(now)
		w.noteDeparture()
		n, err := w.Client.Write(part)
		w.Written += int64(n)
		if err != nil {
			w.lose()
			return fmt.Errorf("%w: %w", fault.ErrClientGone, err)
		}
		if len(b) > 0 {
			now = w.now()
		}
	}
	return nil
}

// WriteThrough writes to the client, flushed.
func (w *Writer) WriteThrough(b []byte) error {
	if err := w.Write(b); err != nil {
		return err
	}
	return w.Flush()
}

// Flush sends what was written so far, within the same time.
func (w *Writer) Flush() error {
	w.LimitWriteFrom(w.now())
	if err := w.Client.Flush(); err != nil {
		w.lose()
		return fmt.Errorf("%w: %w", fault.ErrClientGone, err)
	}
	return nil
}

// LimitWriteFrom gives the client Stall for what is written from now on, and for what its
// connection still has to write after the last call. One that was given it just now has it.
func (w *Writer) LimitWriteFrom(now time.Time) {
	if !w.limited.IsZero() && now.Sub(w.limited) < w.Stall/8 {
		return
	}
	w.limited = now
	_ = w.Client.SetWriteDeadline(now.Add(w.Stall)) // it fails where the connection has no deadlines
}

// TooLarge reports whether so many bytes are more than an answer, or an event of a
// stream, may have. A stream as a whole may have any number.
func (w *Writer) TooLarge(n int64) bool {
	return w.Most > 0 && n > w.Most
}
