package coretasks

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/internal/seal"
	"berth/internal/storage"
)

// maxEnd bounds the end of a task that is kept, in bytes of its outcome: a longer one is the server's alone to tell.
const maxEnd = 16 << 10

// end is what a client was told that a task has come to, as the store has it.
type end struct {
	Status  string        `json:"s"`
	Message string        `json:"m,omitempty"`
	Created time.Time     `json:"c"`
	Updated time.Time     `json:"u"`
	TTL     time.Duration `json:"t,omitempty"`
	Poll    time.Duration `json:"p,omitempty"`
	Result  []byte        `json:"r,omitempty"`
	Error   []byte        `json:"e,omitempty"`
}

// endPurpose is what ends are sealed for.
const endPurpose = "end of a bridged task"

// endKey is where the store has the task's end: by the id that its client has, for a server may use its own again.
func (t *Task) endKey() string {
	sum := sha256.Sum256([]byte(t.id))
	return "bridge:end:" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

// aboutEnd is of what, and whose, the end at a key is.
func (t *Task) aboutEnd(key string) [][]string {
	about := t.of.about(t.who)
	for i := range about {
		about[i] = append(about[i], key)
	}
	return about
}

// keep has an end that is being told stand in the store for as long as the task lives, a day at most, and returns the one that stands there: what was
// told first. What is not kept, as where its caller has too many of them there, the server has for as long as the session stays.
func (t *Task) keep(ctx context.Context, v *taskwire.View) taskwire.View {
	life := min(time.Until(t.until), unlimited)
	if life <= 0 || len(v.Result)+len(v.Error)+len(v.Message) > maxEnd {
		return *v
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notesTime)
	defer cancel()
	key := t.endKey()
	text, _ := json.Marshal(end{v.Status, v.Message, v.Created, v.Updated, v.TTL, v.PollInterval, v.Result, v.Error}) // it fails for years of five digits only
	sealed, err := t.of.Notes.keys().Seal(ctx, endPurpose, t.aboutEnd(key)[0], text, life)
	if err != nil {
		return *v
	}
	ends := &t.of.Notes.ends
	if !ends.fits(t.who.Caller, len(sealed)) {
		if told, err := t.recall(ctx); err == nil {
			return told
		}
		return *v
	}
	standing, created, err := t.of.Notes.records.PutIfAbsent(ctx, key, []byte(sealed), life)
	if err != nil {
		return *v
	}
	if created {
		ends.put(t.who.Caller, len(sealed), life)
		return *v
	}
	if told, err := t.opened(ctx, key, standing); err == nil {
		return told
	}
	return *v
}

// recall returns the end of a task that its server knows no more, as it was told. It fails with mcp.ErrUnknownTask where none is kept.
func (t *Task) recall(ctx context.Context) (taskwire.View, error) {
	ctx, cancel := context.WithTimeout(ctx, notesTime)
	defer cancel()
	key := t.endKey()
	record, err := t.of.Notes.records.Get(ctx, key)
	if errors.Is(err, storage.ErrNotFound) {
		err = mcp.ErrUnknownTask
	}
	if err != nil {
		return taskwire.View{}, err
	}
	return t.opened(ctx, key, record)
}

// opened is an end that the store has.
func (t *Task) opened(ctx context.Context, key string, record storage.Record) (taskwire.View, error) {
	text, _, err := t.of.Notes.keys().OpenAny(ctx, endPurpose, t.aboutEnd(key), string(record.Value))
	var e end
	if errors.Is(err, seal.ErrInvalid) || err == nil && json.Unmarshal(text, &e) != nil {
		err = mcp.ErrUnknownTask
	}
	return taskwire.View{
		Status: e.Status, Message: e.Message, Created: e.Created, Updated: e.Updated, TTL: e.TTL, PollInterval: e.Poll, Result: e.Result, Error: e.Error,
	}, err
}
