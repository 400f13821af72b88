package storage

import (
	"context"
	"fmt"
	"time"

	"berth/internal/storage/breaker"
	"berth/internal/storage/engine"
	"berth/internal/storage/redis"
)

// Get implements Engine.
func (s *Store) Get(ctx context.Context, key string) (record Record, err error) {
	err = s.do(ctx, engine.OpGet, s.part(key), func(ctx context.Context) (err error) {
		record, err = s.engine.Get(ctx, key)
		return err
	})
	return record, err
}

// GetInto is Get of a name that is bytes. The record's value may lie in room: it is good as long as that is not used again.
func (s *Store) GetInto(ctx context.Context, key, room []byte) (record Record, err error) {
	lends, ok := s.engine.(engine.IntoGetter)
	if _, several := s.engine.(engine.Parted); several || !ok {
		return s.Get(ctx, string(key))
	}
	err = s.do(ctx, engine.OpGet, "", func(ctx context.Context) (err error) {
		record, err = lends.GetInto(ctx, key, room)
		return err
	})
	return record, err
}

// PutIfAbsent implements Engine.
func (s *Store) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (standing Record, created bool, err error) {
	part := s.part(key)
	err = s.do(ctx, engine.OpPutIfAbsent, part, func(ctx context.Context) (err error) {
		standing, created, err = s.engine.PutIfAbsent(ctx, key, value, ttl)
		return err
	})
	if err == nil && created {
		s.wrote(part)
	}
	return standing, created, err
}

// Swap implements Engine.
func (s *Store) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (record Record, err error) {
	err = s.do(ctx, engine.OpSwap, s.part(key), func(ctx context.Context) (err error) {
		record, err = s.engine.Swap(ctx, key, version, value, ttl)
		return err
	})
	return record, err
}

// Put implements Engine.
func (s *Store) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return s.do(ctx, engine.OpPut, s.part(key), func(ctx context.Context) error { return s.engine.Put(ctx, key, value, ttl) })
}

// Delete implements Engine.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.do(ctx, engine.OpDelete, s.part(key), func(ctx context.Context) error { return s.engine.Delete(ctx, key) })
}

func (s *Store) part(key string) string {
	if several, ok := s.engine.(engine.Parted); ok {
		return several.Part(key)
	}
	return ""
}

// do runs one operation: not for a caller who has left, through its part's breaker, measured.
func (s *Store) do(ctx context.Context, op, part string, f func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("storage: %s: %w", op, err)
	}
	if s.closed.Load() {
		return closedFault(op)
	}
	var took time.Duration
	var err error
	if s.breakers == nil {
		start := time.Now()
		err = f(ctx)
		took = time.Since(start)
	} else {
		took, err = s.ask(ctx, s.breakers.Of(part), op, f)
		s.health.Writes.Note(op, part, err)
		s.health.Reads.Note(op, part, err)
	}
	s.metrics.record(ctx, op, took, err)
	return err
}

// ask runs one operation through a server's breaker, and returns how long that took without the wait for its turn.
func (s *Store) ask(ctx context.Context, by *breaker.Breaker, op string, f func(ctx context.Context) error) (took time.Duration, err error) {
	if together, ok := s.engine.(engine.Sharer); ok && together.Shares(ctx, op) {
		if took, err = by.InTurn(ctx, by.Aboard, op, f); err != engine.ErrAshore {
			return took, err
		}
		ctx = engine.Alone(ctx)
	}
	return by.InTurn(ctx, by.Turns, op, f)
}

func closedFault(op string) error {
	return &engine.Fault{Op: op, Reason: engine.ReasonOther, Detail: "store is closed"}
}

// Now implements Engine.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.do(ctx, engine.OpNow, s.part(redis.ClockKey), func(ctx context.Context) (err error) {
		now, err = s.engine.Now(ctx)
		return err
	})
	return now, err
}

// AddMember implements Engine.
func (s *Store) AddMember(ctx context.Context, list, member string, ttl time.Duration, most int) error {
	return s.do(ctx, engine.OpAddMember, s.part(list), func(ctx context.Context) error { return s.engine.AddMember(ctx, list, member, ttl, most) })
}

// RemoveMember implements Engine.
func (s *Store) RemoveMember(ctx context.Context, list, member string) error {
	return s.do(ctx, engine.OpRemoveMember, s.part(list), func(ctx context.Context) error { return s.engine.RemoveMember(ctx, list, member) })
}

// Members implements Engine.
func (s *Store) Members(ctx context.Context, list string) (members []string, err error) {
	err = s.do(ctx, engine.OpMembers, s.part(list), func(ctx context.Context) (err error) {
		members, err = s.engine.Members(ctx, list)
		return err
	})
	return members, err
}

// KeepMembers implements Engine.
func (s *Store) KeepMembers(ctx context.Context, list string, members ...Member) error {
	return s.do(ctx, engine.OpKeepMembers, s.part(list), func(ctx context.Context) error { return s.engine.KeepMembers(ctx, list, members...) })
}

// Listing implements Engine.
func (s *Store) Listing(ctx context.Context, list string, most int) (listing Listing, err error) {
	err = s.do(ctx, engine.OpListing, s.part(list), func(ctx context.Context) (err error) {
		listing, err = s.engine.Listing(ctx, list, most)
		return err
	})
	return listing, err
}

// Page implements Engine.
func (s *Store) Page(ctx context.Context, list, from string, most int) (page Page, err error) {
	err = s.do(ctx, engine.OpPage, s.part(list), func(ctx context.Context) (err error) {
		page, err = s.engine.Page(ctx, list, from, most)
		return err
	})
	return page, err
}

// Notify implements Engine.
func (s *Store) Notify(ctx context.Context, topic, message string) error {
	return s.do(ctx, engine.OpNotify, s.part(topic), func(ctx context.Context) error { return s.engine.Notify(ctx, topic, message) })
}

// Watch goes past the breaker: an outage is what it waits out, and of its end the probes tell.
func (s *Store) Watch(ctx context.Context, topic string, received func(message string)) error {
	watching, end := context.WithCancel(ctx)
	defer end()
	go func() {
		defer end()
		select {
		case <-s.ended:
		case <-watching.Done():
		}
	}()
	err := s.engine.Watch(watching, topic, received)
	if err == nil && ctx.Err() == nil {
		return closedFault(engine.OpWatch)
	}
	return err
}
