package trouble

import (
	"context"
	"time"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Kind is what is wrong.
type Kind string

// The kinds.
const (
	Orphans      Kind = "orphans"       // a held call lost its holder: another berth took the task over, or it failed
	HolderLost   Kind = "holder_lost"   // what failed for good with the berth that held it
	UnknownIDs   Kind = "unknown_ids"   // a client named a task or a session that nobody knows
	Refusals     Kind = "refusals"      // a request that berth did not take
	StoreOutages Kind = "store_outages" // the store stopped answering
)

// Kinds are all kinds, in the order in which they are told.
var Kinds = []Kind{Orphans, HolderLost, UnknownIDs, Refusals, StoreOutages}

// Event is one occurrence.
type Event struct {
	At     time.Time // zero: now
	Pool   string
	ID     string // of a task
	What   string // the reason: "holder_lost", "unknown task", "rate_limited", …
	Caller string // a digest
	Detail string // for people
}

// Number is how often a trouble occurred.
type Number struct {
	Kind   Kind
	Count  int64     // since the process began
	Recent int64     // in the last five minutes
	Last   time.Time // zero: never
}

// Book keeps the troubles of a process. Its methods may be called concurrently, and on nil, which keeps
// none.
type Book struct {
	pages   map[Kind]*page
	counter metric.Int64Counter
	adds    map[Kind][]metric.AddOption
	refused series.Tally // refusals by their Detail, which is in words of berth's own
}

// New returns an empty book. Without a provider nothing is measured.
func New(provider metric.MeterProvider) *Book {
	b := &Book{pages: map[Kind]*page{}, adds: map[Kind][]metric.AddOption{}}
	// Creating an instrument fails on a malformed name only.
	b.counter, _ = series.Meter(provider, "berth/trouble").Int64Counter("berth.troubles",
		metric.WithDescription("The five numbers that say that something is wrong."))
	for _, kind := range Kinds {
		b.pages[kind] = new(page)
		b.adds[kind] = []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(attribute.String("kind", string(kind))))}
		b.counter.Add(context.Background(), 0, b.adds[kind]...)
	}
	return b
}

// Note notes an event of a kind of this package.
func (b *Book) Note(kind Kind, e Event) {
	if b == nil {
		return
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	b.pages[kind].add(e.kept())
	if kind == Refusals {
		b.refused.Add(e.Detail)
	}
	b.counter.Add(context.Background(), 1, b.adds[kind]...)
}

// Numbers are those of all kinds.
func (b *Book) Numbers() []Number {
	if b == nil {
		return nil
	}
	numbers := make([]Number, len(Kinds))
	for i, kind := range Kinds {
		numbers[i] = b.pages[kind].number(kind, time.Now())
	}
	return numbers
}

// Events are the last of a kind, the newest first; known is false for a kind that there is not.
func (b *Book) Events(kind Kind) (events []Event, known bool) {
	if b == nil || b.pages[kind] == nil {
		return nil, false
	}
	return b.pages[kind].events(), true
}

// Refused is how many requests were refused in these words.
func (b *Book) Refused(details ...string) int64 {
	if b == nil {
		return 0
	}
	return b.refused.Of(details...)
}
