package engine

import (
	"context"
	"time"
)

// What follows is for engines that can do more than Engine asks for.

// IntoGetter is an Engine that reads without an allocation.
type IntoGetter interface {
	GetInto(ctx context.Context, key, room []byte) (Record, error)
}

// SomeGetter is an Engine that reads several records in a round trip.
type SomeGetter interface {
	GetSome(ctx context.Context, keys []string) ([]Record, error)
}

// EachWriter is an Engine that does several writes in one step.
type EachWriter interface {
	Each(ctx context.Context, writes []Write) error
}

// OrderedWriter is an Engine that does steps in one round trip.
type OrderedWriter interface {
	InOrder(ctx context.Context, steps []Step) (done int, standing Record, err error)
}

// Sharer is an Engine whose operations may go to their server together.
type Sharer interface {
	Shares(ctx context.Context, op string) bool
}

// Parted is an Engine whose keys live on several servers, each of which can be away alone.
type Parted interface {
	Engine

	Part(key string) string // the server that holds key, as far as is known without asking; else ""

	// Parts are the servers that hold keys, each with what pings it.
	Parts(ctx context.Context) (map[string]func(context.Context) error, error)
}

// Rater is an engine on which processes share rates.
type Rater interface {
	// TakeRate and RateWait are those of the handle.
	TakeRate(ctx context.Context, key string, rate Rate, n int) (time.Duration, error)
	RateWait(ctx context.Context, key string, rate Rate, n int) (time.Duration, error)
}

// Evictor is an Engine on a server that may drop keys which have not expired.
type Evictor interface {
	// Policy names the rule by which it does.
	Policy(ctx context.Context) (string, error)
}

// Server is an Engine on servers that take a name each time that they start.
type Server interface {
	// Processes names those that hold the records.
	Processes(ctx context.Context) (string, error)
}

// Mover is an Engine on a server in whose place another one may come, that is not known to have all that it had.
type Mover interface {
	// Moves calls moved, which must not wait, each time that one does or is about to, before that is asked anything, until ctx ends.
	Moves(ctx context.Context, moved func())
}

// KeepsAll is the one policy that drops nothing unexpired: the others drop keys with an expiry,
// as all of berth's are.
const KeepsAll = "noeviction"
