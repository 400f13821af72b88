package sticky

import (
	"context"
	"log/slog"
	"time"

	"berth/internal/storage"
	"berth/sticky/roll"
)

// rolls are the lists of what upstreams own, as this process writes them.
type rolls struct {
	store *storage.Store
	names roll.Names
	owing owing
	log   *slog.Logger
}

// enlist has w make e a member of its owner's list as well.
func (r *rolls) enlist(w *storage.Write, e *entry, now time.Time) {
	if e.key.Kind.Counted() {
		w.List, w.Member = r.names.Of(roll.Of(e.key, e.binding.Upstream)), e.member(w.Key, now)
	}
}

// add makes e a member of its owner's list. What cannot be one
// now is owed: it is tried again, and told of by Unlisted until then.
func (r *rolls) add(ctx context.Context, e entry) {
	if e.key.Kind.Counted() && r.keep(ctx, &e) != nil {
		r.owing.add(e)
	}
}

func (r *rolls) keep(ctx context.Context, e *entry) error {
	return r.store.KeepMembers(ctx, r.names.Of(roll.Of(e.key, e.binding.Upstream)), e.member(e.key.Digest(), time.Now()))
}

// remove takes what key names off the list of an upstream that does not own it any more. One that
// stays there is struck off by who reads the list.
func (r *rolls) remove(ctx context.Context, key Key, upstream string) {
	if !key.Kind.Counted() || upstream == "" {
		return
	}
	r.owing.settle(key)
	r.strike(ctx, key, upstream)
}

// strike is remove of what may stand in another's list.
func (r *rolls) strike(ctx context.Context, key Key, upstream string) {
	if err := r.store.RemoveMember(ctx, r.names.Of(roll.Of(key, upstream)), key.Digest()); err != nil {
		r.log.Debug("what an upstream owns no more is still counted", "kind", string(key.Kind), "upstream", upstream, "error", err)
	}
}

// member is e's place in its owner's list from now on, by the name of its binding. Stores count whole milliseconds.
func (e *entry) member(name string, now time.Time) storage.Member {
	return storage.Member{Name: name, Left: time.Duration(max(e.binding.Until-now.UnixMilli(), 1)) * time.Millisecond}
}
