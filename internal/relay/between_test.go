package relay

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/storage"
	"berth/internal/wire"
)

// failing is a Handle that fails.
func failing(err error) Handle {
	return func(context.Context, *exchange.Request) (*wire.Response, error) { return nil, err }
}

// What fails between two berths says nothing of the upstream; what the other one tells of that, and how long it takes, does.
func TestAFailureBetweenBerthsIsMarked(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(w *world, there, here *berth)
		to     string        // "": the other berth that runs
		body   int           // bytes
		wait   time.Duration // 0: any
		cause  error         // nil: any
		want   exchange.SendError
	}{
		"the store is away":             {breaks: func(_ *world, _, here *berth) { here.line.cut.Store(true) }, cause: storage.ErrUnavailable, want: exchange.SendError{Between: true}},
		"the body is too large":         {body: MaxBody + 1, cause: ErrTooLarge, want: exchange.SendError{Between: true}},
		"nobody has that name":          {to: "nobody", cause: ErrGone, want: exchange.SendError{Between: true}},
		"it takes nothing in time":      {wait: time.Second, breaks: func(_ *world, there, _ *berth) { there.line.freeze() }, want: exchange.SendError{Between: true, TimedOut: true}},
		"it dies as it answers":         {breaks: func(_ *world, there, _ *berth) { time.AfterFunc(time.Second, there.kill) }, cause: ErrLost, want: exchange.SendError{Between: true, Sent: true}},
		"the store goes as it answers":  {breaks: func(_ *world, _, here *berth) { time.AfterFunc(time.Second, func() { here.line.cut.Store(true) }) }, cause: storage.ErrUnavailable, want: exchange.SendError{Between: true, Sent: true}},
		"it does not answer in time":    {wait: time.Second, want: exchange.SendError{Sent: true, TimedOut: true}},
		"it cannot reach the upstream":  {to: "refused", want: exchange.SendError{Refused: true}},
		"it cannot pass it on any more": {to: "passing", want: exchange.SendError{Between: true}},
		"it has no such upstream":       {to: "without", cause: ErrGone, want: exchange.SendError{Between: true}},
		"it may have, and has it not":   {to: "after", want: exchange.SendError{Sent: true}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.dies = true
				told := map[string]*berth{
					"":        w.start(hanging(make(chan time.Time, 1))),
					"refused": w.start(failing(&exchange.SendError{Err: errors.New("refused"), Refused: true})),
					"passing": w.start(failing(&exchange.SendError{Err: errors.New("on"), Between: true})),
					"without": w.start(failing(&exchange.SendError{Err: fmt.Errorf("%w: no such upstream", ErrGone), Between: true})),
					"after":   w.start(failing(&exchange.SendError{Err: ErrGone, Sent: true})),
				}
				here, to := w.start(nobody), c.to
				if there := told[c.to]; there != nil {
					to = there.Name()
				}
				if c.breaks != nil {
					c.breaks(w, told[""], here)
				}
				r := request()
				r.Body = make([]byte, c.body)
				_, err := here.Pass(t.Context(), to, r, c.wait)
				got := *sendError(t, err)
				if c.cause != nil && !errors.Is(err, c.cause) {
					t.Errorf("got %v, want %v", err, c.cause)
				}
				if got.Err = nil; got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				here.line.cut.Store(false)
				if told[""].line.thawed.Load() != nil {
					told[""].line.thaw()
				}
				time.Sleep(2 * leaseLife)
			})
		})
	}
}
