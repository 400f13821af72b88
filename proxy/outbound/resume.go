package outbound

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// resumeTime bounds how long an upstream may take to say whether a stream can be resumed.
const resumeTime = 2 * time.Second

// CouldResume reports whether u, which broke a stream off, would let the client go on after
// this event. It is asked as the client would ask, and its answer is left unread: clients
// whose servers died give up resuming after a few attempts, and then wait for ever. A server
// that has not seen yet that its reader is gone refuses another one, and knows the stream.
func (w Way) CouldResume(ctx context.Context, u *routing.Upstream, event string) bool {
	ctx, cancel := context.WithTimeout(ctx, resumeTime)
	defer cancel()
	out := w.Request(u, wire.MethodGet, w.URL(u), nil)
	DropCallsOwn(out.Header)
	out.Header.Del("Content-Type")
	out.Header.Set("Accept", "text/event-stream")
	out.Header.Set(mcp.HeaderLastEvent, event)
	response, err := To(w.Endpoint).Send(ctx, u, out, Terms{Wait: resumeTime})
	if failed, ok := errors.AsType[*exchange.SendError](err); ok {
		return failed.IsOwn() || failed.TimedOut && failed.Sent
	}
	if err != nil {
		return true // the client left
	}
	defer response.Body.Close()
	return response.Status/100 != 4 || response.Status == wire.StatusConflict
}
