package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// OnceKeys are the idempotency keys that were used.
type OnceKeys struct{ store Store }

// ErrKeyTaken says that a key is another task's.
var ErrKeyTaken = errors.New("upgrade: another call with this key was first")

// claimTime is how long a key is taken by a creation that was not completed: longer
// than any creation takes. After it a repetition begins anew.
const claimTime = 10 * time.Second

// UsedKey is what stands in the store for a key that was used.
type UsedKey struct {
	Task     string `json:"task"`
	Question string `json:"question"`
	Recorded bool   `json:"recorded,omitzero"` // the task is; before that nobody is told of it
}

// OnceKey is where it stands who has a key.
func OnceKey(once task.Once) string { return "upgrade:once:{" + once.Name + "}" }

// Used returns what stands for a key, or fails with storage.ErrNotFound.
func (k OnceKeys) Used(ctx context.Context, once task.Once) (UsedKey, error) {
	record, err := k.store.Get(ctx, OnceKey(once))
	if err != nil {
		return UsedKey{}, fmt.Errorf("upgrade: reading an idempotency key: %w", err)
	}
	return readKey(record)
}

func readKey(record storage.Record) (key UsedKey, err error) {
	if err := json.Unmarshal(record.Value, &key); err != nil {
		return UsedKey{}, fmt.Errorf("upgrade: stored idempotency key: %w", err)
	}
	return key, nil
}

func (k UsedKey) encode() []byte {
	// Strings always marshal.
	data, _ := json.Marshal(k)
	return data
}

// Claim takes the task's key, if it has one, before anything is recorded. A claim is
// short: if this process dies before the task is recorded, others may make it.
func (k OnceKeys) Claim(ctx context.Context, t *task.Task) error {
	if t.Once == (task.Once{}) {
		return nil
	}
	claim := UsedKey{Task: t.ID, Question: t.Once.Question}
	standing, created, err := k.store.PutIfAbsent(ctx, OnceKey(t.Once), claim.encode(), claimTime)
	if err != nil {
		return fmt.Errorf("upgrade: storing an idempotency key: %w", err)
	}
	if created {
		return nil
	}
	used, err := readKey(standing)
	if err == nil && used.Task != t.ID { // else the reply of an earlier attempt was lost
		err = ErrKeyTaken
	}
	return err
}

// Settle makes the recorded task the one of its key, for as long as it lives. Where a
// claim has run out and another call took the key meanwhile, one of the two wins here,
// before anything is sent; the other one fails with ErrKeyTaken.
func (k OnceKeys) Settle(ctx context.Context, t *task.Task, life time.Duration) error {
	if t.Once == (task.Once{}) {
		return nil
	}
	settled := UsedKey{t.ID, t.Once.Question, true}
	const claimed = 1 // the version of a claim
	standing, err := k.store.Swap(ctx, OnceKey(t.Once), claimed, settled.encode(), life)
	if errors.Is(err, storage.ErrNotFound) {
		standing, _, err = k.store.PutIfAbsent(ctx, OnceKey(t.Once), settled.encode(), life)
	}
	if err != nil && !errors.Is(err, storage.ErrConflict) {
		return fmt.Errorf("upgrade: storing an idempotency key: %w", err)
	}
	if used, unread := readKey(standing); unread != nil || used != settled {
		return ErrKeyTaken
	}
	return nil
}

// Free gives back a key whose task nobody was told of.
func (k OnceKeys) Free(ctx context.Context, t *task.Task) error {
	if t.Once == (task.Once{}) {
		return nil
	}
	standing, held, err := k.holds(ctx, t)
	if err != nil || !held {
		return err
	}
	// Not deleted: it may have expired meanwhile, and be another task's.
	_, err = k.store.Swap(ctx, OnceKey(t.Once), standing.Version, standing.Value, shortestKey)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	return k.awaitEnd(ctx, t)
}

// holds reports whether a task's key is still its own, and what stands there.
func (k OnceKeys) holds(ctx context.Context, t *task.Task) (standing storage.Record, held bool, err error) {
	standing, err = k.store.Get(ctx, OnceKey(t.Once))
	if errors.Is(err, storage.ErrNotFound) {
		return standing, false, nil
	}
	if err != nil {
		return standing, false, err
	}
	used, err := readKey(standing)
	return standing, err == nil && used.Task == t.ID, err
}

// shortestKey is the life of a key that is given back: a millisecond or two, as stores count.
const shortestKey = time.Millisecond

// awaitEnd waits until a key that was given back is no more the task's: who is told so may use it at once.
func (k OnceKeys) awaitEnd(ctx context.Context, t *task.Task) error {
	for range 10 {
		if _, held, err := k.holds(ctx, t); err != nil || !held {
			return err
		}
		select {
		case <-time.After(shortestKey):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
