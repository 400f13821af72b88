package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

var (
	// ErrKeyReused says that an idempotency key was used for another call before.
	ErrKeyReused = errors.New("upgrade: the idempotency key was used for another call")
	// ErrUnsettled says that the first call with an idempotency key is being recorded
	// still, or was given up half-way. It may be made again a little later.
	ErrUnsettled = errors.New("upgrade: the first call with this idempotency key is not recorded yet")

	errKeyTaken = errors.New("upgrade: another call with this key was first")
)

const (
	// claimTime is how long a key is taken by a creation that was not completed: longer
	// than any creation takes. After it a repetition begins anew.
	claimTime = 10 * time.Second

	// settleTime is how long a repetition waits for the call before it, beside the time for
	// which that is withheld.
	settleTime = 2 * time.Second

	settleEvery = 25 * time.Millisecond
)

// usedKey is what stands in the store for a key that was used.
type usedKey struct {
	Task     string `json:"task"`
	Question string `json:"question"`
	Recorded bool   `json:"recorded,omitzero"` // the task is; before that nobody is told of it
}

func keyOf(once task.Once) string { return "upgrade:once:{" + once.Name + "}" }

// once names the call by its idempotency key. Where there are no principals, callers are
// told apart by what they authenticate with.
func (t *Tasks) once(ctx context.Context, c *task.Creation, key string) (task.Once, error) {
	if c.Principal != "" {
		return c.OnceOf("principal "+c.Principal, key), nil
	}
	who, err := t.ledger.ids.Creator(ctx, c.Credentials)
	return c.OnceOf("authorization "+who.Credentials, key), err
}

// CreateOnce is Create for a call that bears an idempotency key. If the same call was made
// under the key before, held is nil and earlier is its task as it stands, without an
// outcome or a place in a queue. Errors are Create's, ErrKeyReused and ErrUnsettled. With
// any of them nothing was made by this call.
func (t *Tasks) CreateOnce(ctx context.Context, c task.Creation, key string) (held *Held, earlier View, err error) {
	defer func() { t.runner.metrics.tried(ctx, err) }()
	limit, cancel := context.WithTimeout(ctx, settleTime+c.Withhold)
	defer cancel()
	once, err := t.once(limit, &c, key)
	if err != nil {
		return nil, View{}, unavailable(err)
	}
	for {
		used, err := t.ledger.once.used(limit, once)
		if older := c.EarlierOnce(key); errors.Is(err, storage.ErrNotFound) && older != (task.Once{}) {
			used, err = t.ledger.once.used(limit, older)
		}
		switch {
		case errors.Is(err, storage.ErrNotFound):
			held, err := t.create(ctx, c, once)
			if !errors.Is(err, errKeyTaken) {
				return held, View{}, err
			}
		case err != nil:
			return nil, View{}, unavailable(err)
		case used.Question != once.Question:
			return nil, View{}, ErrKeyReused
		case used.Recorded:
			// Without the task the key is free in a moment: the task has expired, or its
			// client was given something else in its place.
			task, err := t.Peek(ctx, used.Task, c.Asker)
			if !errors.Is(err, ErrUnknown) && !t.ledger.Withholds(&task) {
				return nil, View{Task: task}, err
			}
		}
		select {
		case <-time.After(settleEvery):
		case <-limit.Done():
			return nil, View{}, ErrUnsettled
		}
	}
}

// onceKeys are the idempotency keys that were used.
type onceKeys struct{ store store }

// used returns what stands for a key, or fails with storage.ErrNotFound.
func (k onceKeys) used(ctx context.Context, once task.Once) (usedKey, error) {
	record, err := k.store.Get(ctx, keyOf(once))
	if err != nil {
		return usedKey{}, fmt.Errorf("upgrade: reading an idempotency key: %w", err)
	}
	return readKey(record)
}

func readKey(record storage.Record) (key usedKey, err error) {
	if err := json.Unmarshal(record.Value, &key); err != nil {
		return usedKey{}, fmt.Errorf("upgrade: stored idempotency key: %w", err)
	}
	return key, nil
}

func (k usedKey) encode() []byte {
	// Strings always marshal.
	data, _ := json.Marshal(k)
	return data
}

// claim takes the task's key, if it has one, before anything is recorded. A claim is
// short: if this process dies before the task is recorded, others may make it.
func (k onceKeys) claim(ctx context.Context, t *task.Task) error {
	if t.Once == (task.Once{}) {
		return nil
	}
	claim := usedKey{Task: t.ID, Question: t.Once.Question}
	standing, created, err := k.store.PutIfAbsent(ctx, keyOf(t.Once), claim.encode(), claimTime)
	if err != nil {
		return fmt.Errorf("upgrade: storing an idempotency key: %w", err)
	}
	if created {
		return nil
	}
	used, err := readKey(standing)
	if err == nil && used.Task != t.ID { // else the reply of an earlier attempt was lost
		err = errKeyTaken
	}
	return err
}

// settle makes the recorded task the one of its key, for as long as it lives. Where a
// claim has run out and another call took the key meanwhile, one of the two wins here,
// before anything is sent; the other one fails with errKeyTaken.
func (k onceKeys) settle(ctx context.Context, t *task.Task, life time.Duration) error {
	if t.Once == (task.Once{}) {
		return nil
	}
	settled := usedKey{t.ID, t.Once.Question, true}
	const claimed = 1 // the version of a claim
	standing, err := k.store.Swap(ctx, keyOf(t.Once), claimed, settled.encode(), life)
	if errors.Is(err, storage.ErrNotFound) {
		standing, _, err = k.store.PutIfAbsent(ctx, keyOf(t.Once), settled.encode(), life)
	}
	if err != nil && !errors.Is(err, storage.ErrConflict) {
		return fmt.Errorf("upgrade: storing an idempotency key: %w", err)
	}
	if used, unread := readKey(standing); unread != nil || used != settled {
		return errKeyTaken
	}
	return nil
}

// free gives back a key whose task nobody was told of.
func (k onceKeys) free(ctx context.Context, t *task.Task) error {
	if t.Once == (task.Once{}) {
		return nil
	}
	used, err := k.used(ctx, t.Once)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil
	case err != nil:
		return err
	case used.Task != t.ID:
		return nil
	}
	return k.store.Delete(ctx, keyOf(t.Once))
}

// resolve sees to a creation that has failed, for all that is known. A repetition may
// have been told of its task all the same: it is gone on with then. Else it is forgotten.
// The caller has claimed the task.
func (r *Runner) resolve(ctx context.Context, t task.Task, c *task.Call) error {
	awaited, err := r.awaited(ctx, &t)
	if err != nil {
		return err
	}
	if !awaited {
		return r.forget(ctx, &t)
	}
	e, err := r.ledger.records.get(ctx, t.ID)
	if err == nil && e.Holder == r.ledger.holder {
		r.hold(e, c).start()
	}
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	return err
}
