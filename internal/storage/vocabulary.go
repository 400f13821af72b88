package storage

import (
	"context"
	"time"

	"berth/internal/storage/engine"
	"berth/internal/storage/health"
)

// What an engine speaks of is this package's face as well: [engine] tells what each is.

// KeepTTL leaves a key's expiry as it stands. A key that Put makes with it never expires.
const KeepTTL = engine.KeepTTL

// What an Engine fails with.
var (
	ErrNotFound    = engine.ErrNotFound    // the store was asked and has no such key
	ErrConflict    = engine.ErrConflict    // another version stands than the one a Swap named
	ErrFull        = engine.ErrFull        // a list holds as many members as an AddMember named
	ErrUnavailable = engine.ErrUnavailable // the store could not be asked or would not serve
)

// What callers hand to a store, and get from it.
type (
	Engine  = engine.Engine
	Record  = engine.Record
	Member  = engine.Member
	Listing = engine.Listing
	Page    = engine.Page
	Write   = engine.Write
	Step    = engine.Step
	Rate    = engine.Rate
	Finding = engine.Finding
)

// Putting is Put as a step, Making PutIfAbsent, and Swapping Swap. The last two end what InOrder does if another record
// stands. A value is InOrder's from then on.
func Putting(key string, value []byte, ttl time.Duration) Step {
	return engine.Putting(key, value, ttl)
}
func Making(key string, value []byte, ttl time.Duration) Step { return engine.Making(key, value, ttl) }
func Swapping(key string, version uint64, value []byte, ttl time.Duration) Step {
	return engine.Swapping(key, version, value, ttl)
}

// Keeping is KeepMembers as a step, of one member, Removing RemoveMember, Deleting Delete, and Notifying Notify.
func Keeping(list, member string, left time.Duration) Step { return engine.Keeping(list, member, left) }
func Removing(list, member string) Step                    { return engine.Removing(list, member) }
func Deleting(key string) Step                             { return engine.Deleting(key) }
func Notifying(topic, message string) Step                 { return engine.Notifying(topic, message) }

// OneByOne is InOrder where each step is an operation of its own.
func OneByOne(ctx context.Context, e Engine, steps []Step) (done int, standing Record, err error) {
	return engine.OneByOne(ctx, e, steps)
}

// Within bounds each operation once it has its turn. A deadline of the context counts the wait for
// that as well.
func Within(ctx context.Context, d time.Duration) context.Context { return engine.Within(ctx, d) }

// Health is what is known of a store.
type Health = health.Status
