package file

import (
	"bytes"
	"context"
	"time"

	"berth/internal/storage/engine"

	"go.etcd.io/bbolt"
)

func (e *Engine) Each(ctx context.Context, writes []engine.Write) error {
	for i := range writes {
		if err := fits(engine.OpEach, []byte(writes[i].Key)); err != nil {
			return err
		}
	}
	// The change may still run when the caller has left: it has writes of its own.
	own := append([]engine.Write(nil), writes...)
	for i := range own {
		own[i].Value = bytes.Clone(own[i].Value)
	}
	err := e.commit(ctx, engine.OpEach, func(tx *bbolt.Tx, now time.Time) (changed bool, err error) {
		for i := range own {
			done, err := eachOf(tx, &own[i], now)
			if err != nil {
				return false, err
			}
			changed = changed || done
		}
		return changed, nil
	})
	if err == nil {
		copy(writes, own)
	}
	return err
}

// eachOf does one write in tx. It may be done more than once.
func eachOf(tx *bbolt.Tx, w *engine.Write, now time.Time) (changed bool, err error) {
	key := []byte(w.Key)
	before, err := records.load(tx, key)
	if err != nil {
		return false, err
	}
	w.Done, w.Listed, w.Standing = w.Over || before == nil || !before.live(now), false, engine.Record{}
	if !w.Done {
		w.Standing = before.Record
		return false, nil
	}
	next := update{key: key, value: w.Value, ttl: w.TTL}
	if _, err := next.put(tx, before, now); err != nil || w.List == "" {
		return true, err
	}
	member := memberKey(w.List, w.Member.Name)
	stood, err := members.load(tx, member)
	if err != nil {
		return false, err
	}
	w.Listed = true
	return true, enlist(tx, member, stood, expiry(now, w.Member.Left))
}
