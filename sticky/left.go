package sticky

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"berth/internal/storage"
)

// Left is one thing that an upstream owns.
type Left struct {
	Kind    Kind
	Name    string // of its binding; it tells nothing of the id
	Binding Binding
	Expires time.Time // when it may be forgotten
}

const (
	readAtOnce = 128 // bindings

	// strikeAfter is how long a list must be seen to hold what its binding contradicts before that
	// is struck off: a binding that is being made, or moved, is listed first.
	strikeAfter = 10 * time.Second

	maxMissing = 10_000 // members that are looked at again
)

// missing are members that their bindings contradict, and since when. The zero value has none.
type missing struct {
	mu    sync.Mutex // guards the field below
	since map[string]time.Time
}

// Left tells of what an upstream owns of a kind, at most so many, those first that are forgotten
// first, and how many there are. What the list holds for no reason is left out, and struck off. The
// error wraps storage.ErrUnavailable or is ctx's.
func (b *Bindings) Left(ctx context.Context, kind Kind, pool, upstream string, most int) (left []Left, all int, err error) {
	all, err = b.EachLeft(ctx, kind, pool, upstream, most, func(some []Left) error {
		left = append(left, some...)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return left, all, nil
}

// EachLeft is Left for who takes some at a time, and may take its time for them: what was bound, or
// unbound, meanwhile may be told or not. It ends with the first error of take.
func (b *Bindings) EachLeft(ctx context.Context, kind Kind, pool, upstream string, most int, take func(some []Left) error) (all int, err error) {
	roll := rollKey{kind, pool, upstream}
	listing, err := b.store.Listing(ctx, roll.list(), most)
	if err != nil {
		return 0, err
	}
	all = listing.Size
	for members := range slices.Chunk(listing.Members, readAtOnce) {
		some, err := b.leftOf(ctx, roll, members)
		if err != nil {
			return 0, err
		}
		all -= len(members) - len(some)
		if err := take(some); err != nil {
			return 0, err
		}
	}
	return all, nil
}

// leftOf reads the bindings of members, and leaves those out of which there is none that says the same, and
// has not been for a while.
func (b *Bindings) leftOf(ctx context.Context, roll rollKey, members []storage.Member) (left []Left, err error) {
	names := make([]string, len(members))
	for i, member := range members {
		names[i] = member.Name
	}
	records, err := storage.GetSome(ctx, b.store, names)
	if err != nil {
		return nil, err
	}
	for i, member := range members {
		one := Left{Kind: roll.kind, Name: member.Name, Expires: time.Now().Add(member.Left)}
		if b.fits(roll, &one, records[i]) || !b.missing.again(roll, member.Name) {
			left = append(left, one)
			continue
		}
		if err := b.store.RemoveMember(ctx, roll.list(), member.Name); err != nil {
			return nil, err
		}
		b.missing.found(roll, member.Name)
	}
	return left, nil
}

// fits reports whether the record of a member says what its list does.
func (b *Bindings) fits(roll rollKey, one *Left, record storage.Record) bool {
	if record.Version == 0 {
		return false
	}
	var err error
	if one.Binding, err = decode(record.Value); err != nil { // it may be of a newer berth
		return true
	}
	one.Expires = one.Binding.Forgotten()
	if one.Binding.Upstream != roll.upstream || one.Binding.Until == 0 && one.Binding.Made != 0 {
		return false
	}
	b.missing.found(roll, one.Name)
	return true
}

// Find returns what a pool has bound a task's id to, whoever's it is. It is for operators, who know nobody's principal; the error is ErrUnknown, or
// wraps storage.ErrUnavailable or is ctx's.
func (b *Bindings) Find(ctx context.Context, pool, id string) (Key, Binding, error) {
	key := Key{Kind: Task, Pool: pool, ID: id}
	binding, _, err := b.Peek(ctx, key)
	if !errors.Is(err, ErrUnknown) {
		return key, binding, err
	}
	claim, _, err := b.Peek(ctx, key.Claim())
	if err != nil {
		return Key{}, Binding{}, err
	}
	key.Principal = claim.Principal
	binding, _, err = b.Peek(ctx, key)
	return key, binding, err
}

// again notes that a member is contradicted, and reports whether it has been for long enough.
func (m *missing) again(roll rollKey, member string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := roll.list() + " " + member
	since, known := m.since[name]
	if known {
		return time.Since(since) >= strikeAfter
	}
	if m.since == nil || len(m.since) >= maxMissing {
		m.since = make(map[string]time.Time)
	}
	m.since[name] = time.Now()
	return false
}

// found notes that a member is not contradicted any more.
func (m *missing) found(roll rollKey, member string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.since, roll.list()+" "+member)
}
