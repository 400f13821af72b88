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

// TakeOverElsewhere is TakeOver of what another berth reads on, for which the upstream refused the request. That is sent again, until the
// upstream has seen that the reader left; where nobody does, its refusal stands.
func (l *Exchanges) TakeOverElsewhere(ctx context.Context, c *inbound.Call, refusal *wire.Response, sendAgain func() (*wire.Response, error)) (*wire.Response, error) {
	if !l.endElsewhere(ctx, sessionOf(c), c.HTTP.Header.Get(mcp.HeaderLastEvent)) {
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

// What a server may take to see that a reader has left: that of this berth, that of another one for the last time.
const (
	aMoment     = 20 * time.Millisecond
	manyMoments = 32 * aMoment
)
