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
// at a time, and refuse the next one (409). It reports whether there was such a reading at this berth.
func (l *Exchanges) TakeOver(c *inbound.Call) bool {
	if !Resumes(c) {
		return false
	}
	ctx := c.HTTP.Context()
	if !l.end(ctx, sessionOf(c), c.HTTP.Header.Get(mcp.HeaderLastEvent)) {
		return false
	}
	_ = timed.Sleep(ctx, aMoment)
	return true
}

// TakeOverAgain has the upstream asked again that refused the request, until it has seen that the reader left: the one of this berth, if it was
// taken over, or is by now, its client having left meanwhile; or else one of another berth, which reads on until it hears of it. Where nobody does,
// the refusal stands.
func (l *Exchanges) TakeOverAgain(ctx context.Context, c *inbound.Call, taken bool, refusal *wire.Response, sendAgain func() (*wire.Response, error)) (*wire.Response, error) {
	in, event := sessionOf(c), c.HTTP.Header.Get(mcp.HeaderLastEvent)
	if !taken && !l.end(ctx, in, event) && !l.endElsewhere(ctx, in, event) {
		return refusal, nil
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
