package sticky

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
	"berth/sticky/binding"
)

// write is what makes e now where nothing stands, without its place in a list. Its value is in room, if it fits. One that has just expired
// must not become an endless one.
func (e *entry) write(now time.Time, room []byte) storage.Write {
	return storage.Write{Key: e.key.Digest(), Value: e.binding.EncodeInto(room), TTL: max(e.binding.Expires.Sub(now), shortest)}
}

// establish writes e where nothing stands, or what it replaces, without its place in a list: then displaced is who
// owned it, and e is as it was written. It returns the record that stands otherwise.
func (r *records) establish(ctx context.Context, e *entry) (standing storage.Record, written bool, displaced string, err error) {
	w := e.write(time.Now(), nil)
	standing, written, err = r.store.PutIfAbsent(ctx, w.Key, w.Value, w.TTL)
	if err != nil || written || !e.displaces(standing) {
		return standing, written, "", err
	}
	w.Standing = standing
	return r.displace(ctx, e, &w)
}

// displace writes e over what w met, as long as e replaces that. e is as it was written then.
func (r *records) displace(ctx context.Context, e *entry, w *storage.Write) (standing storage.Record, written bool, displaced string, err error) {
	standing = w.Standing
	for range maxRevisions {
		yields, _ := binding.Decode(standing.Value) // it was read a moment ago
		next, value := e.since(yields), w.Value
		if next.counts != e.counts {
			value = next.binding.Encode()
		}
		standing, err = r.store.Swap(ctx, w.Key, standing.Version, value, w.TTL)
		switch {
		case err == nil:
			written, displaced, *e = true, yields.Upstream, next
		case errors.Is(err, storage.ErrConflict):
			err = nil // the next round judges what stands by now
		case errors.Is(err, storage.ErrNotFound):
			standing, written, err = r.store.PutIfAbsent(ctx, w.Key, w.Value, w.TTL)
		}
		if err != nil || written || !e.displaces(standing) {
			break
		}
	}
	return standing, written, displaced, err
}
