package storage

import (
	"context"
	"time"
)

// Lists are indexes of short strings, each of which is a member for a time of its own, by
// the engine's clock. A list begins with its first member and ends with its last.
type Lists interface {
	// Enlist makes member one of list for ttl; zero or less, KeepTTL too, is for good. A
	// member that stands stays as it is, place and expiry, so that whoever lost an answer
	// may ask again. If most is above zero and that many other members stand, Enlist
	// fails with ErrFull: of any number of callers at a time no more than most succeed.
	Enlist(ctx context.Context, list, member string, ttl time.Duration, most int) error

	// Delist takes member off list. One that does not stand is no error.
	Delist(ctx context.Context, list, member string) error

	// Members are those that stand, the one first that expires first, and those that do
	// not expire last. With equal lives, or none, that is the order of their arrival. A
	// list that does not exist has none.
	Members(ctx context.Context, list string) ([]string, error)
}
