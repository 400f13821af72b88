package transport

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
	"berth/upgrade/task"
)

var (
	// ErrAnswered is what Send or Next fails with where the client was given the answer
	// itself: there is no task then.
	ErrAnswered = errors.New("upgrade: the client was answered")
	// ErrRefused is ErrAnswered where the answer says that the upstream has not taken the call
	// on.
	ErrRefused = fmt.Errorf("%w: the call is refused", ErrAnswered)
	// ErrStands says that the upstream takes a connection for standing on which the stream
	// went before.
	ErrStands = errors.New("upgrade: the stream stands")
	// ErrNoReplay says that a stream cannot be resumed, and why does not matter.
	ErrNoReplay = errors.New("upgrade: the upstream does not resume the stream")
)

// CredentialsError says that an upstream does not take what authorises a call.
type CredentialsError struct{ Status int }

// Error implements error.
func (e *CredentialsError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Status, wire.Phrase(e.Status))
}

// Message is one event of the answer to a call, or the answer as a whole.
type Message struct {
	Data  []byte        // one JSON-RPC message; nil: the event bears none
	Says  *mcp.Answer   // what Data says, by mcp.PeekAnswer; nil: it was not read, or could not be
	Whole bool          // Data is the answer as a whole, and no event
	Event string        // id of the event; "" if it has none
	Retry time.Duration // how long to wait before the stream is resumed, if this says so; else 0
}

// Exchange is the answer to one round, message by message. It is for one goroutine.
type Exchange interface {
	// Next returns the next message, whole and valid until the next call; io.EOF after the
	// last one. An error that is an *mcp.Error says in which words the task fails.
	Next() (Message, error)
	// Close ends the exchange, and with it the call if that goes on and is of the modern
	// era.
	Close()
}

// Resting is an Exchange that may say nothing for long.
type Resting interface {
	// Rest has ready called, once and in a goroutine of its own, when Next has something to tell, and takes little memory until
	// then. It reports false where there is nothing to wait for.
	Rest(ready func()) bool
}

// Send sends one round to u, once. Until the answer's headers come it may fail with an
// *exchange.SendError, with ErrAnswered or ErrSessionLost, or with an *mcp.Error that the
// task fails with.
type Send func(ctx context.Context, u *routing.Upstream, c *task.Call, maxAnswer int64) (Exchange, error)

// Transport is how held calls reach the upstreams of a pool. What is nil is not to be had:
// calls in sessions need all of it.
type Transport struct {
	Send Send

	// Ask is Send of a request about a task that u has made of a call. It may also fail with a *CredentialsError.
	Ask Send

	// Resume asks u for what came after an event on the stream of a call that was sent
	// before, in the same session (2025-11-25, "Resumability and Redelivery"). It fails with
	// ErrSessionLost, ErrNoReplay, ErrStands, or another error after which it may be tried
	// again, a *CredentialsError for one.
	Resume func(ctx context.Context, u *routing.Upstream, c *task.Call, event string, maxAnswer int64) (Exchange, error)

	// Tell posts a notification or a response, the body of c, in c's session.
	Tell func(ctx context.Context, u *routing.Upstream, c *task.Call) error

	// GiveUp posts the notification c that a call is given up which u holds while its client is asked. One that holds none hears
	// nothing.
	GiveUp func(ctx context.Context, u *routing.Upstream, c *task.Call) error

	// IsMoot posts the question c whether nobody waits any more for what the client of a call is asked that u holds. Of one that holds none
	// that is never known.
	IsMoot func(ctx context.Context, u *routing.Upstream, c *task.Call) bool

	// End ends c's session.
	End func(ctx context.Context, u *routing.Upstream, c *task.Call) error
}
