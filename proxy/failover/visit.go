package failover

import (
	"context"

	"berth/proxy/session"
	"berth/routing"
)

// Visit opens a session at u, which has what the request is about and not the request's session, as that was opened where it
// is. The caller ends it.
func Visit(ctx context.Context, c Case, u *routing.Upstream) (*session.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, session.Limit(c.Endpoint))
	defer cancel()
	kept, err := recall(ctx, c)
	if err != nil {
		return nil, err
	}
	return session.For(c.Way).Open(ctx, u, session.Opening{Initialize: kept.Initialize, Accept: kept.accept})
}
