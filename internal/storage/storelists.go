package storage

import (
	"context"
	"time"
)

// Enlist implements Engine.
func (s *Store) Enlist(ctx context.Context, list, member string, ttl time.Duration, most int) error {
	return s.do(ctx, opEnlist, s.part(list), func(ctx context.Context) error { return s.engine.Enlist(ctx, list, member, ttl, most) })
}

// Delist implements Engine.
func (s *Store) Delist(ctx context.Context, list, member string) error {
	return s.do(ctx, opDelist, s.part(list), func(ctx context.Context) error { return s.engine.Delist(ctx, list, member) })
}

// Members implements Engine.
func (s *Store) Members(ctx context.Context, list string) (members []string, err error) {
	err = s.do(ctx, opMembers, s.part(list), func(ctx context.Context) (err error) {
		members, err = s.engine.Members(ctx, list)
		return err
	})
	return members, err
}
