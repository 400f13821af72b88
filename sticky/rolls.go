package sticky

import (
	"context"
	"log/slog"
	"time"

	"berth/internal/storage"
)

// rolls are the lists of what upstreams own, as this process writes them.
type rolls struct {
	store *storage.Store
	names rollNames
	owing owing
	log   *slog.Logger
}

// enlist has w make e a member of its owner's list as well.
func (r *rolls) enlist(w *storage.Write, e *entry, now time.Time) {
	if e.key.Kind.counted() {
		w.List, w.Member = r.names.of(rollOf(e.key, e.binding.Upstream)), e.member(w.Key, now)
	}
}

// add makes e a member of its owner's list. What cannot be one
// now is owed: it is tried again, and told of by Unlisted until then.
func (r *rolls) add(ctx context.Context, e entry) {
	if e.key.Kind.counted() && r.keep(ctx, &e) != nil {
		r.owing.add(e)
	}
}

func (r *rolls) keep(ctx context.Context, e *entry) error {
	return r.store.KeepMembers(ctx, r.names.of(rollOf(e.key, e.binding.Upstream)), e.member(e.key.digest(), time.Now()))
}

// remove takes what key names off the list of an upstream that does not own it any more. One that
// stays there is struck off by who reads the list.
func (r *rolls) remove(ctx context.Context, key Key, upstream string) {
	if !key.Kind.counted() || upstream == "" {
		return
	}
	r.owing.settle(key)
	if err := r.store.RemoveMember(ctx, r.names.of(rollOf(key, upstream)), key.digest()); err != nil {
		r.log.Debug("what an upstream owns no more is still counted", "kind", string(key.Kind), "upstream", upstream, "error", err)
	}
}
