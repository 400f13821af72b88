package coretasks

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/proxy/bridge/rounds"

	"go.opentelemetry.io/otel/metric/noop"
)

// away is a store that has no secrets while it is down.
type away struct {
	storage.Engine
	down bool
}

func (a *away) Get(ctx context.Context, key string) (storage.Record, error) {
	if a.down {
		return storage.Record{}, storage.ErrUnavailable
	}
	return a.Engine.Get(ctx, key)
}

func (a *away) Shared() bool { return true }

// What cannot be read now, since the secret that it is sealed under is not to be had, is no question less: nothing is written over it.
func TestQuestionsThatCannotBeReadNowStay(t *testing.T) {
	memory := func() storage.Engine {
		engine, err := storage.Open("memory:", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = engine.Close() })
		return engine
	}
	ctx, records := t.Context(), memory()
	berth := func(secrets seal.Store) taskNotes {
		keys := seal.NewStoredKeyring(secrets)
		if _, err := keys.Seal(ctx, "any", nil, nil, time.Hour); err != nil {
			t.Fatal(err)
		}
		return taskNotes{NewNotes(records, func() *seal.Keyring { return keys }, rounds.NewCounter(noop.Meter{}, "p")), "bridge:asks:x"}
	}
	question := func(id string) []note {
		const request = `{"method":"roots/list"}`
		return []note{{Question: rounds.Question{Key: "ask-" + id, ID: []byte(id), Request: []byte(request)}, Request: request}}
	}
	now := memory()
	if _, err := berth(&away{Engine: now}).ask(ctx, question("1"), time.Hour, ""); err != nil {
		t.Fatal(err)
	}
	secrets := &away{Engine: memory()} // before a flush
	other := berth(secrets)
	secrets.Engine, secrets.down = now, true
	if open, err := other.open(ctx); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("while the secret is not to be had: %d questions, %v", len(open), err)
	}
	_, _ = other.ask(ctx, question("2"), time.Hour, "")
	secrets.down = false
	if open, err := other.ask(ctx, question("3"), time.Hour, ""); err != nil || len(open) < 2 || open[0].Key != "ask-1" {
		t.Errorf("in the end there are %d, %v", len(open), err)
	}
	lost := taskNotes{other.in, "bridge:asks:lost"}
	if err := records.Put(ctx, lost.key, []byte("x"), time.Hour); err != nil {
		t.Fatal(err)
	}
	if open, err := lost.open(ctx); err != nil || len(open) != 0 {
		t.Errorf("of what nobody can read: %d, %v", len(open), err)
	}
}
