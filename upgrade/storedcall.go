package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/upgrade/task"
)

// What the envelope of a call, and the name of its session, are sealed for. The latter
// needs no secret of the operator's: it is of no use without what the envelope bears,
// unless that bears nothing.
const (
	sealPurpose = "upgraded call"
	sealSession = "upgraded call's session"
)

// storedCall stands before the body, on a line of its own.
type storedCall struct {
	Own      map[string][]string `json:"own,omitempty"`
	Envelope *task.Envelope      `json:"envelope,omitempty"` // if it is bare
	Sealed   string              `json:"sealed,omitempty"`   // if it is not, and there is a key
	Session  string              `json:"session,omitempty"`  // sealed; "" if there is none
}

// keepCall stores a call for life, so that another berth can send it, or its next
// round. Credentials are sealed, or else left out.
func (r records) keepCall(ctx context.Context, id string, c *task.Call, life time.Duration) error {
	head := storedCall{Own: c.Own}
	if c.Bare {
		head.Envelope = &c.Envelope
	} else if r.keys.Given() {
		sealed, err := r.seal(ctx, id, &c.Envelope, life)
		if err != nil {
			return err
		}
		head.Sealed = sealed
	}
	if c.Session != "" {
		sealed, err := r.keys.Seal(ctx, sealSession, []string{id}, []byte(c.Session), life+spare)
		if err != nil {
			return err
		}
		head.Session = sealed
	}
	// Strings always marshal.
	line, _ := json.Marshal(head)
	kept := bytes.Join([][]byte{line, c.Body}, []byte("\n"))
	if err := storage.PutBlob(ctx, r.store, callKey(id), kept, max(life, 0)+spare); err != nil {
		return fmt.Errorf("upgrade: storing a call: %w", err)
	}
	return nil
}

// dropCall removes the call of a task that has ended: nobody sends it any more, and what it
// asked is told apart by its digest. If the store does not take that now, it does later.
func (l *Ledger) dropCall(ctx context.Context, id string) {
	drop := func(ctx context.Context) error { return storage.DeleteBlob(ctx, l.store, callKey(id)) }
	if drop(ctx) != nil {
		l.backlog.add(drop)
	}
}

func (r records) seal(ctx context.Context, id string, e *task.Envelope, life time.Duration) (string, error) {
	text, _ := json.Marshal(e)
	return r.keys.Seal(ctx, sealPurpose, []string{id}, text, life+spare)
}

// loadCall returns a call as it was kept. open is false if its envelope was not.
func (r records) loadCall(ctx context.Context, id string) (c *task.Call, open bool, err error) {
	kept, err := storage.GetBlob(ctx, r.store, callKey(id))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, false, task.ErrCallLost
	}
	if err != nil {
		return nil, false, fmt.Errorf("upgrade: reading a call: %w", err)
	}
	line, body, _ := bytes.Cut(kept, []byte("\n"))
	var head storedCall
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, false, fmt.Errorf("%w: %w", task.ErrCallLost, err)
	}
	c = &task.Call{Body: body, Own: head.Own}
	if head.Session != "" {
		session, err := r.keys.Open(ctx, sealSession, []string{id}, head.Session)
		if errors.Is(err, seal.ErrInvalid) {
			return c, false, task.ErrNoCredentials
		}
		if err != nil {
			return c, false, err
		}
		c.Session = string(session)
	}
	switch {
	case head.Envelope != nil:
		c.Envelope = *head.Envelope
		return c, true, nil
	case head.Sealed == "":
		return c, false, nil
	}
	text, err := r.keys.Open(ctx, sealPurpose, []string{id}, head.Sealed)
	if errors.Is(err, seal.ErrInvalid) {
		return c, false, nil // another berth seals with another key
	}
	if err == nil {
		err = json.Unmarshal(text, &c.Envelope)
	}
	return c, err == nil, err
}

// callOf returns the call of a task as this berth can send it without its client: with
// the envelope that was kept, or with none where the pool authorises calls itself.
func (r *Runner) callOf(ctx context.Context, t *task.Task) (*task.Call, error) {
	c, open, err := r.ledger.records.loadCall(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if pool := r.pools[t.Pool]; !open && (pool == nil || !pool.OwnCredentials) {
		return nil, task.ErrNoCredentials
	}
	return c, nil
}
