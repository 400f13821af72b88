package upgrade

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

var (
	// ErrKeyReused says that an idempotency key was used for another call before.
	ErrKeyReused = errors.New("upgrade: the idempotency key was used for another call")
	// ErrUnsettled says that the first call with an idempotency key is being recorded
	// still, or was given up half-way. It may be made again a little later.
	ErrUnsettled = errors.New("upgrade: the first call with this idempotency key is not recorded yet")
)

const (
	// settleTime is how long a repetition waits for the call before it, beside the time for
	// which that is withheld.
	settleTime = 2 * time.Second

	settleEvery = 25 * time.Millisecond
)

// once names the call by its idempotency key. Where there are no principals, callers are
// told apart by what they authenticate with.
func (m *Maker) once(ctx context.Context, c *task.Creation, key string) (task.Once, error) {
	if c.Principal != "" {
		return c.OnceOf("principal "+c.Principal, key), nil
	}
	who, err := m.ledger.IDs.Creator(ctx, c.Credentials)
	return c.OnceOf("authorization "+who.Credentials, key), err
}

// used is what stands for the call's key, by each of its names, or fails with storage.ErrNotFound.
func (m *Maker) used(ctx context.Context, c *task.Creation, once task.Once, key string) (ledger.UsedKey, error) {
	used, err := m.ledger.Once.Used(ctx, once)
	if older := c.EarlierOnce(key); errors.Is(err, storage.ErrNotFound) && older != (task.Once{}) {
		return m.ledger.Once.Used(ctx, older)
	}
	return used, err
}

// CreateOnce is Create for a call that bears an idempotency key. If the same call was made
// under the key before, held is nil and earlier is its task as it stands, without an
// outcome or a place in a queue. Before a task is made admit is asked, once; nil: nobody is. Errors are its own, Create's,
// ErrKeyReused and ErrUnsettled. With any of them nothing was made by this call.
func (m *Maker) CreateOnce(ctx context.Context, c task.Creation, key string, admit func(context.Context) error) (held *runner.Held, earlier View, err error) {
	defer func() { m.runner.Metrics.Tried(ctx, err) }()
	limit, cancel := context.WithTimeout(ctx, settleTime+c.Withhold)
	defer cancel()
	once, err := m.once(limit, &c, key)
	if err != nil {
		return nil, View{}, ledger.Unavailable(err)
	}
	for {
		used, err := m.used(limit, &c, once, key)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			if err := m.ledger.Epoch.MissKey(limit); !errors.Is(err, ledger.ErrUnknown) {
				return nil, View{}, ledger.Unavailable(err)
			}
			if admit != nil {
				if err := admit(limit); err != nil {
					return nil, View{}, err
				}
				admit = nil
			}
			held, err := m.create(ctx, c, once)
			if !errors.Is(err, ledger.ErrKeyTaken) {
				return held, View{}, err
			}
		case err != nil:
			return nil, View{}, ledger.Unavailable(err)
		case used.Question != once.Question:
			return nil, View{}, ErrKeyReused
		case used.Recorded:
			// Without the task the key is free in a moment: the task has expired, or its
			// client was given something else in its place.
			e, err := m.records.find(ctx, used.Task, c.Asker)
			if !errors.Is(err, ledger.ErrUnknown) && !m.ledger.Withholds(e.Task) {
				return nil, View{Task: *e.Task}, err
			}
		}
		select {
		case <-time.After(settleEvery):
		case <-limit.Done():
			return nil, View{}, ErrUnsettled
		}
	}
}
