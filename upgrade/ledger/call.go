package ledger

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

// KeepCall stores a call for life, so that another berth can send it, or its next
// round. Credentials are sealed, or else left out.
func (r Records) KeepCall(ctx context.Context, id string, c *task.Call, life time.Duration) error {
	kept, err := r.encodeCall(ctx, id, c, life)
	if err != nil {
		return err
	}
	return r.putCall(ctx, id, kept, life)
}

// encodeCall is a call as KeepCall stores it.
func (r Records) encodeCall(ctx context.Context, id string, c *task.Call, life time.Duration) ([]byte, error) {
	head := task.StoredCall{Own: c.Own}
	if c.Bare {
		head.Envelope = &c.Envelope
	} else if r.Keys.Given() {
		sealed, err := r.seal(ctx, id, &c.Envelope, life)
		if err != nil {
			return nil, err
		}
		head.Sealed = sealed
	}
	if c.Session != "" {
		sealed, err := r.Keys.Seal(ctx, sealSession, []string{id}, []byte(c.Session), life+Spare)
		if err != nil {
			return nil, err
		}
		head.Session = sealed
	}
	return head.Encode(c.Body), nil
}

func (r Records) putCall(ctx context.Context, id string, kept []byte, life time.Duration) error {
	if err := storage.PutBlob(ctx, r.store, CallKey(id), kept, max(life, 0)+Spare); err != nil {
		return fmt.Errorf("upgrade: storing a call: %w", err)
	}
	return nil
}

func (r Records) seal(ctx context.Context, id string, e *task.Envelope, life time.Duration) (string, error) {
	return r.Keys.Seal(ctx, sealPurpose, []string{id}, e.Encode(), life+Spare)
}

// LoadCall returns a call as it was kept. open is false if its envelope was not.
func (r Records) LoadCall(ctx context.Context, id string) (c *task.Call, open bool, err error) {
	kept, err := storage.GetBlob(ctx, r.store, CallKey(id))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, false, task.ErrCallLost
	}
	if err != nil {
		return nil, false, fmt.Errorf("upgrade: reading a call: %w", err)
	}
	line, body, _ := bytes.Cut(kept, []byte("\n"))
	var head task.StoredCall
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, false, fmt.Errorf("%w: %w", task.ErrCallLost, err)
	}
	c = &task.Call{Body: body, Own: head.Own}
	if head.Session != "" {
		session, err := r.Keys.Open(ctx, sealSession, []string{id}, head.Session)
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
	text, err := r.Keys.Open(ctx, sealPurpose, []string{id}, head.Sealed)
	if errors.Is(err, seal.ErrInvalid) {
		return c, false, nil // another berth seals with another key
	}
	if err == nil {
		err = json.Unmarshal(text, &c.Envelope)
	}
	return c, err == nil, err
}
