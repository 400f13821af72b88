package exchange

import (
	"context"
	"sync/atomic"
	"time"

	"berth/internal/wire"
)

// Switch sends by another Sender, which may change: exchanges that have begun end where they are. The
// zero value sends by none: To comes first.
type Switch struct{ now atomic.Pointer[Sender] }

// To has exchanges go by next from now on. What they went by before is its owner's to close.
func (s *Switch) To(next Sender) { s.now.Store(&next) }

// Send implements Sender.
func (s *Switch) Send(ctx context.Context, request *Request, wait time.Duration) (*wire.Response, error) {
	return (*s.now.Load()).Send(ctx, request, wait)
}

// Close implements Sender. It closes what it sends by.
func (s *Switch) Close() { (*s.now.Load()).Close() }
