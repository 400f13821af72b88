// Package engine is what the engines of a store have in common: what each does ([Engine]), what some
// can do beside that, with what they answer, and with what they fail.
//
//	engine.go    records, lists and notices; the contract of an engine
//	optional.go  what engines may do in fewer round trips, or where several servers hold the keys
//	step.go      the steps of InOrder
//	write.go     the writes of Each
//	rate.go      how often something may be done
//	within.go    what a context says of an operation
//	op.go        the operations' names
//	fault.go     ErrUnavailable, with its reason
//	life.go      lives, in milliseconds
//	finding.go   what an inspection finds
package engine

import (
	"context"
	"errors"
	"math"
	"time"
)

// KeepTTL leaves a key's expiry as it stands. A key that Put makes with it never expires.
const KeepTTL time.Duration = math.MinInt64

var (
	ErrNotFound = errors.New("storage: not found") // says that the store was asked and has no such key

	// ErrConflict says that another version stands than the one a Swap named.
	ErrConflict = errors.New("storage: version conflict")
	ErrFull     = errors.New("storage: list is full") // says that a list holds as many members as an AddMember named

	// ErrUnavailable says that the store could not be asked or would not serve; whether a write
	// happened is then unknown. It comes wrapped in an error that tells why: test for it with
	// errors.Is.
	ErrUnavailable = errors.New("storage: unavailable")
)

// Record is one stored value and the version that a later Swap must name.
type Record struct {
	// Value holds the bytes as they were written. It is shared and must not be modified.
	Value []byte

	// Version is 1 for a new key and grows by one with each write; 0 without a record.
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

	// PutIfAbsent writes value unless key exists, and returns the record that stands, with its own
	// expiry, and whether this call made it: after a lost answer it did not, though the bytes are
	// ours.
	PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (standing Record, created bool, err error)

	// Swap replaces the value, and the expiry or not (KeepTTL), if key stands at version. Else it
	// fails with ErrNotFound, or with ErrConflict beside the record that stands.
	Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (Record, error)

	// Put writes value, and expiry or not (KeepTTL), whatever stood before; the version grows. It
	// is meant for hints.
	Put(ctx context.Context, key string, value []byte, ttl time.Duration) error

	// Delete removes key. A key that does not exist is no error.
	Delete(ctx context.Context, key string) error

	// Now returns the time by the clock that lives are counted with: the server's.
	Now(ctx context.Context) (time.Time, error)

	Lists
	Notices

	// Ping fails with whatever would keep every other method from being served.
	Ping(ctx context.Context) error

	// Close gives back what the engine holds. Later calls fail with ErrUnavailable.
	Close() error
}

// Lists are indexes of short strings, each a member for a time of its own, by the engine's clock. A
// list begins with its first member and ends with its last.
type Lists interface {
	// AddMember makes member one of list for ttl; zero or less, KeepTTL too, is for good. One that
	// stands stays as it is, so that whoever lost an answer may ask again. If most is above zero
	// and that many others stand, AddMember fails with ErrFull, however many callers there are at a
	// time.
	AddMember(ctx context.Context, list, member string, ttl time.Duration, most int) error

	// KeepMembers makes these members of list, each for the life that it tells, from now on, whether
	// it stands or not. Repeating it is harmless; after an error some may stand and others not.
	KeepMembers(ctx context.Context, list string, members ...Member) error

	// RemoveMember takes member off list. One that does not stand is no error.
	RemoveMember(ctx context.Context, list, member string) error

	// Members are those that stand, in the order of their expiries, those without one last; with
	// equal ones in the order of their arrival.
	Members(ctx context.Context, list string) ([]string, error)

	// Listing counts those that stand, and tells of the first most of them, in the order of Members.
	Listing(ctx context.Context, list string, most int) (Listing, error)

	// Page tells of the next most of those that stand, from a place that an earlier page told of; "" is the
	// beginning, and so is what is no place. It costs as much as it tells, however long the list is. The order is the
	// engine's own. Who stands at one place until the last page is told once.
	Page(ctx context.Context, list, from string, most int) (Page, error)
}

// Page is a part of a list.
type Page struct {
	Members []Member
	Next    string // the place where it goes on; "": this was the end
}

// Listing is a list at one time, by the engine's clock.
type Listing struct {
	Size    int           // how many stand
	Last    time.Duration // until the last of those expires that do; 0: none does
	Members []Member
}

// Member is one that stands in a list.
type Member struct {
	Name string
	Left time.Duration // until it expires; zero or less: never
}

// Notices are words from process to process, by topic. They are hints: nothing may depend on their
// arrival.
type Notices interface {
	// Notify tells message to those who watch topic now, this process included, and not who has
	// received it.
	Notify(ctx context.Context, topic, message string) error

	// Watch calls received with each message of topic, one call after another, until ctx ends, and
	// returns nil; if the store is closed, ErrUnavailable. received("") says that messages may have
	// been missed: at the start, when a connection is lost and once there is another, and when
	// received was too slow. An outage ends no watch.
	Watch(ctx context.Context, topic string, received func(message string)) error
}
