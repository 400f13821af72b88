package sticky

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/internal/storage"

	"golang.org/x/sync/errgroup"
)

// Left is one thing that an upstream owns.
type Left struct {
	Kind    Kind
	Name    string // of its binding; it tells nothing of the id
	Binding Binding
	Expires time.Time // when it may be forgotten
}

const (
	readAtOnce = 8 // bindings

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
	roll := rollKey{kind, pool, upstream}
	listing, err := b.store.Listing(ctx, roll.list(), most)
	if err != nil {
		return nil, 0, err
	}
	found := make([]*Left, len(listing.Members))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readAtOnce)
	for i, member := range listing.Members {
		group.Go(func() (err error) {
			found[i], err = b.leftOf(ctx, roll, member)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	all = listing.Size
	for _, one := range found {
		if one == nil {
			all--
			continue
		}
		left = append(left, *one)
	}
	return left, all, nil
}

// leftOf reads the binding of a member; nil: there is none that says the same, and has not been for
// a while.
func (b *Bindings) leftOf(ctx context.Context, roll rollKey, member storage.Member) (*Left, error) {
	one := &Left{Kind: roll.kind, Name: member.Name, Expires: time.Now().Add(member.Left)}
	record, err := b.store.Get(ctx, member.Name)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	if err == nil {
		one.Binding, err = decode(record.Value)
		if err != nil { // it may be of a newer berth
			return one, nil
		}
		if one.Binding.Upstream == roll.upstream && (one.Binding.Until != 0 || one.Binding.Made == 0) {
			b.missing.found(roll, member.Name)
			return one, nil
		}
	}
	if !b.missing.again(roll, member.Name) {
		return one, nil
	}
	if err := b.store.RemoveMember(ctx, roll.list(), member.Name); err != nil {
		return nil, err
	}
	b.missing.found(roll, member.Name)
	return nil, nil
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
