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

// Tries are the attempts to deliver a message, by whichever berth. They stand for as long as the
// task's record: a message that is listed a second time, by a step that is taken again, is found
// delivered. Times are by the store's clock.
type Tries struct {
	Count int       `json:"count"`          // that have ended
	Next  time.Time `json:"next,omitzero"`  // before which nobody sends it: whoever sends it now is at it until then
	Wait  int64     `json:"wait,omitempty"` // milliseconds from when Next was written to Next; 0: its writer did not say
	By    string    `json:"by,omitempty"`   // who is sending it; "": nobody
	Over  bool      `json:"over,omitempty"` // it was delivered, or given up

	version uint64 // that stands; 0: none does
}

// After has nobody send the message for so long from now on.
func (t Tries) After(now time.Time, wait time.Duration) Tries {
	t.Next, t.Wait = now.Add(wait), wait.Milliseconds()
	return t
}

// Is reports whether these are the tries that other was, as they stand in the store.
func (t Tries) Is(other Tries) bool { return t.version == other.version }

// Left is how long nobody is to send the message yet, who has known these tries for so long; zero or less: it is due. Whatever the
// store's clock is set to, that is no longer than the pause that they tell, or most if they tell none.
func (t Tries) Left(now time.Time, known, most time.Duration) time.Duration {
	if t.Wait > 0 {
		most = time.Duration(t.Wait) * time.Millisecond
	}
	return min(t.Next.Sub(now), most-known)
}

// TriesOf returns the tries of a message; none of one that nobody has sent yet.
func (o *Outbox) TriesOf(ctx context.Context, m task.Message) (t Tries, err error) {
	record, err := o.store.Get(ctx, m.TriesKey())
	if errors.Is(err, storage.ErrNotFound) {
		return Tries{}, nil
	}
	if err != nil {
		return Tries{}, fmt.Errorf("upgrade: reading tries: %w", err)
	}
	if err := json.Unmarshal(record.Value, &t); err != nil {
		t = Tries{} // of a later version, or damaged: to send once more does no harm
	}
	t.version = record.Version
	return t, nil
}

// Write stores next in the place of the tries that stood, unless another berth was first: then ok is
// false. of is nil where the task is forgotten.
func (o *Outbox) Write(ctx context.Context, of *task.Task, m task.Message, stood, next Tries) (now Tries, ok bool, err error) {
	value, _ := json.Marshal(next) // it always marshals
	var record storage.Record
	if stood.version == 0 {
		record, ok, err = o.store.PutIfAbsent(ctx, m.TriesKey(), value, o.left(of))
	} else {
		record, err = o.store.Swap(ctx, m.TriesKey(), stood.version, value, storage.KeepTTL)
		ok = err == nil
	}
	switch {
	case errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrNotFound):
		return Tries{}, false, nil
	case err != nil:
		return Tries{}, false, fmt.Errorf("upgrade: storing tries: %w", err)
	}
	next.version = record.Version
	return next, ok, nil
}
