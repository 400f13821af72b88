package storage

import (
	"context"
	"errors"
	"math"
	"time"
)

// KeepTTL as the time to live of Swap or Put leaves the key's expiry as it stands. A key
// that Put makes with it never expires.
const KeepTTL time.Duration = math.MinInt64

var (
	// ErrNotFound says that the store was asked and has no such key.
	ErrNotFound = errors.New("storage: not found")

	// ErrConflict says that another version stands than the one a Swap named.
	ErrConflict = errors.New("storage: version conflict")

	// ErrFull says that a list holds as many members as an Enlist named.
	ErrFull = errors.New("storage: list is full")

	// ErrUnavailable says that the store could not be asked or would not serve: no
	// connection, no answer in time, breaker open, loading, out of memory, wrong
	// password and the like. Whether a write happened is then unknown. It comes
	// wrapped in an error that tells which; test for it with errors.Is.
	ErrUnavailable = errors.New("storage: unavailable")
)

// Record is one stored value and the version that a later Swap must name.
type Record struct {
	// Value holds the bytes as they were written. It may be shared with other
	// readers and must not be modified.
	Value []byte

	// Version is 1 for a key that was just made and grows by one with each write.
	// 0 means that there is no record.
	Version uint64
}

// Engine is one storage engine, safe for concurrent use.
//
// Every error is ErrNotFound, ErrConflict, ErrFull, ErrUnavailable or the error of a
// context that its caller ended. A time to live of zero or less means that the key never
// expires, but for KeepTTL; others are rounded up to a millisecond. Values are copied or
// sent before a method returns, so the caller may reuse its buffer.
//
// A name is that of a record or that of a list, never both.
//
// A caller that got ErrUnavailable from a write and repeats it may meet its own
// first attempt. That is why PutIfAbsent and Swap hand back the record that
// stands: equal bytes are the same write (put an operation id into the value where
// two writers could otherwise write the same).
type Engine interface {
	// Get returns the record at key, or ErrNotFound.
	Get(ctx context.Context, key string) (Record, error)

	// PutIfAbsent writes value unless key exists. It returns the record that stands
	// and whether this call made it. A record that stands keeps its value and its
	// expiry; after a lost answer created is false though the bytes are ours.
	PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (standing Record, created bool, err error)

	// Swap replaces the value if key stands at version, and sets its expiry anew, or
	// leaves it (KeepTTL). It fails with ErrNotFound if there is no such key and with
	// ErrConflict, beside the record that stands, if the version differs.
	Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (Record, error)

	// Put writes value and expiry, or leaves that (KeepTTL), whatever stood before. The
	// version grows all the same. It is meant for hints: the last writer wins.
	Put(ctx context.Context, key string, value []byte, ttl time.Duration) error

	// Delete removes key. A key that does not exist is no error.
	Delete(ctx context.Context, key string) error

	// Now returns the time by the clock that lives are counted with: the server's.
	Now(ctx context.Context) (time.Time, error)

	Lists
	Notices

	// Ping asks whether the engine answers. It fails with whatever would keep every
	// other method from being served.
	Ping(ctx context.Context) error

	// Close gives back what the engine holds. Later calls fail with ErrUnavailable.
	Close() error
}
