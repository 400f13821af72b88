package lingering

import (
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/timed"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

// Resumes reports whether a client goes on with a stream of its session.
func Resumes(c *inbound.Call) bool {
	return c.HTTP.Method == wire.MethodGet && c.Session != "" && c.Era() != mcp.EraModern && c.HTTP.Header.Has(mcp.HeaderLastEvent)
}

// TakeOver ends the reading of an answer that is read on where its client goes on with the stream: servers give a stream to one reader
// at a time, and refuse the next one (409).
func (l *Exchanges) TakeOver(c *inbound.Call) {
	if !Resumes(c) {
		return
	}
	ctx := c.HTTP.Context()
	if l.end(ctx, sessionOf(c), c.HTTP.Header.Get(mcp.HeaderLastEvent)) {
		_ = timed.Sleep(ctx, aMoment)
	}
}

// TakeOverAgain is TakeOver where the upstream has refused the request: of what is read on at this berth, whose client may have left meanwhile,
// or at another one. The request is sent again, until the upstream has seen that the reader left, whoever that was: berth may just have looked
// whether the stream could be gone on with. Where somebody reads on, the refusal stands.
func (l *Exchanges) TakeOverAgain(ctx context.Context, c *inbound.Call, refusal *wire.Response, sendAgain func() (*wire.Response, error)) (*wire.Response, error) {
	in, event := sessionOf(c), c.HTTP.Header.Get(mcp.HeaderLastEvent)
	if !l.end(ctx, in, event) {
		l.endElsewhere(ctx, in, event)
	}
	response := refusal
	for wait := aMoment; wait <= manyMoments && response.Status == wire.StatusConflict; wait *= 2 {
		_ = timed.Sleep(ctx, wait)
		_ = response.Body.Close()
		next, err := sendAgain()
		if err != nil {
			return nil, err
		}
		response = next
	}
	return response, nil
}

// What a server may take to see that a reader has left: for the first time, and for the last one.
const (
	aMoment     = 20 * time.Millisecond
	manyMoments = 32 * aMoment
)
