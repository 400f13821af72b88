package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// MaxMessages bounds what one receiver is yet to be told, over all berths. What is more it never
// hears.
const MaxMessages = 10_000

// Outbox is what receivers are yet to be told: a list for each. A message is listed before the step
// that it is about, and removed once it was delivered, or given up. With its task's record it goes.
type Outbox struct {
	store Store
	lists Lists
	clock *Clock

	// Due is told of messages whose step is stored, by whoever took it, and Full of those for which
	// there was no room. They must not wait; nil: nobody is told. They are set before the outbox is
	// in use.
	Due, Full func(task.Message)
}

// Add lists messages of a task that is about to be next. It fails where the store does not take
// them; then the step must not be taken. A list that is full is no reason to stop a task.
func (o *Outbox) Add(ctx context.Context, next *task.Task, told []task.Message) error {
	for _, m := range told {
		err := o.lists.Add(ctx, o.lists.ToldTo(m.To), m.Member(), o.left(next), MaxMessages)
		if errors.Is(err, storage.ErrFull) {
			if o.Full != nil {
				o.Full(m)
			}
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// outlasts is how much longer a message stands than its task's record: who finds none gives it up,
// and says so.
const outlasts = 2 * time.Minute

// left is how long messages of a task stand; nil: it is forgotten.
func (o *Outbox) left(t *task.Task) time.Duration {
	if t == nil {
		return outlasts
	}
	return max(o.clock.until(t.Expires()), 0) + Spare + outlasts
}

func (o *Outbox) due(told []task.Message) {
	if o.Due == nil {
		return
	}
	for _, m := range told {
		o.Due(m)
	}
}

// Of returns what a receiver is yet to be told.
func (o *Outbox) Of(ctx context.Context, receiver string) ([]task.Message, error) {
	members, err := o.store.Members(ctx, o.lists.ToldTo(receiver))
	if err != nil {
		return nil, fmt.Errorf("upgrade: reading the outbox: %w", err)
	}
	told := make([]task.Message, 0, len(members))
	for _, member := range members {
		if m, ok := task.ParseMember(receiver, member); ok {
			told = append(told, m)
		}
	}
	return told, nil
}

// Remember has a receiver be one of Receivers for so long from now on.
func (o *Outbox) Remember(ctx context.Context, receiver string, life time.Duration) error {
	if err := o.store.KeepMembers(ctx, o.lists.receivers(), storage.Member{Name: receiver, Left: life}); err != nil {
		return fmt.Errorf("upgrade: writing the receivers: %w", err)
	}
	return nil
}

// Receivers returns the names of those that berths have told, or may yet.
func (o *Outbox) Receivers(ctx context.Context) ([]string, error) {
	names, err := o.store.Members(ctx, o.lists.receivers())
	if err != nil {
		return nil, fmt.Errorf("upgrade: reading the receivers: %w", err)
	}
	return names, nil
}

// quietKey names the record of who has all others send a receiver nothing.
func quietKey(receiver string) string { return "upgrade:quiet:" + receiver }

// Quieten has all berths but this holder's send a receiver nothing for so long from now on, unless another one has said so: then ok
// is false.
func (o *Outbox) Quieten(ctx context.Context, receiver, holder string, life time.Duration) (ok bool, err error) {
	stands, ok, err := o.store.PutIfAbsent(ctx, quietKey(receiver), []byte(holder), life)
	if err == nil && !ok && string(stands.Value) == holder {
		_, err = o.store.Swap(ctx, quietKey(receiver), stands.Version, stands.Value, life)
		ok = err == nil
	}
	if err != nil {
		return false, fmt.Errorf("upgrade: quieting a receiver: %w", err)
	}
	return ok, nil
}

// QuietFor returns the holder that has all others send a receiver nothing; "": nobody has.
func (o *Outbox) QuietFor(ctx context.Context, receiver string) (holder string, err error) {
	stands, err := o.store.Get(ctx, quietKey(receiver))
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return "", fmt.Errorf("upgrade: reading who quiets a receiver: %w", err)
	}
	return string(stands.Value), nil
}

// Rouse has all berths send a receiver messages again.
func (o *Outbox) Rouse(ctx context.Context, receiver string) error {
	if err := o.store.Delete(ctx, quietKey(receiver)); err != nil {
		return fmt.Errorf("upgrade: rousing a receiver: %w", err)
	}
	return nil
}

// Remove removes a message that is not to be sent any more. Its tries stay.
func (o *Outbox) Remove(ctx context.Context, m task.Message) error {
	if err := o.store.RemoveMember(ctx, o.lists.ToldTo(m.To), m.Member()); err != nil {
		return fmt.Errorf("upgrade: removing a message: %w", err)
	}
	return nil
}

// Forget removes what was to be told of a task that is forgotten. What stays finds no record.
func (o *Outbox) Forget(ctx context.Context, t *task.Task) {
	for _, m := range t.AllMessages() {
		_ = o.Remove(ctx, m)
		_ = o.store.Delete(ctx, m.TriesKey())
	}
}
