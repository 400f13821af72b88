package failover

import (
	"context"

	"berth/proxy/session"
	"berth/routing"
)

// Visit opens a session at u, which has what the request is about and not the request's session, as that was opened where it
// is, within the time of a read. The caller ends it.
func Visit(ctx context.Context, c Case, u *routing.Upstream) (*session.Session, error) {
	limit := session.Limit(c.Endpoint)
	if reads := c.Endpoint.Timeouts.Read; reads > 0 {
		limit = min(limit, reads)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	kept, err := recall(ctx, c)
	if err != nil {
		return nil, err
	}
	return session.For(c.Way).Open(ctx, u, session.Opening{Initialize: kept.Initialize, Accept: kept.accept})
}
