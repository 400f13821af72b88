package upgrade

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/upgrade/task"
)

// An id is recognised by its tag: whatever has not the form of one costs no look-up, and
// that of another deployment is not taken for ours.
func TestIDsAreKnownByTheirTag(t *testing.T) {
	at := newCell(memory(t))
	b := newBerth(settings{at: at, keys: givenKeys(t)}, newTool())
	b.line.note()
	id, err := b.ledger.IDs.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := seal.NewKeyring([]byte(strings.Repeat("other", 8)))
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := task.NewIDs(other).Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	flipped := []byte(id)
	flipped[len(flipped)-2] ^= 1
	for name, c := range map[string]struct {
		id   string
		ours bool
	}{
		"ours":                  {id, true},
		"another deployment's":  {stranger, false},
		"a changed tag":         {string(flipped), false},
		"a byte more":           {id + "A", false},
		"a byte less":           {id[:len(id)-1], false},
		"another mark":          {"U" + id[1:], false},
		"no base64":             {"T" + strings.Repeat("!", len(id)-1), false},
		"empty":                 {"", false},
		"256 bytes":             {strings.Repeat("T", 256), false},
		"ten kilobytes":         {strings.Repeat("T", 10_000), false},
		"an id with a line end": {id[:len(id)-1] + "\n", false},
	} {
		if ours, err := b.IDs.Ours(t.Context(), c.id); ours != c.ours || err != nil {
			t.Errorf("%s: got %v, %v, want %v", name, ours, err, c.ours)
		}
	}
	if len(b.line.asked()) > 0 {
		t.Errorf("looked up: %v", b.line.asked())
	}
	if len(id) > 256 {
		t.Errorf("an id has %d bytes", len(id))
	}
}

// A store that lost its secret gets another one; tasks that were made before are still
// known, and those of all berths from then on.
func TestIDsOfTheSecretBeforeAreStillKnown(t *testing.T) {
	store := memory(t)
	keys := seal.NewStoredKeyring(store)
	i := task.NewIDs(keys)
	before, err := i.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(t.Context(), "seal:key"); err != nil {
		t.Fatal(err)
	}
	elsewhere := task.NewIDs(seal.NewStoredKeyring(store))
	after, err := elsewhere.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"before": before, "after": after} {
		if ours, err := i.Ours(t.Context(), id); !ours || err != nil {
			t.Errorf("made %s the loss: got %v, %v", name, ours, err)
		}
	}
}

// shared is a store that other berths see.
type shared struct{ *storage.Store }

func (shared) Shared() bool { return true }

// A berth that starts right after a flush may make another secret than the one that live tasks were named by: until others had their time
// to say that, nobody's id is called foreign.
func TestIDsOfABerthThatStartsAfterAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := shared{memory(t)}
		keys := seal.NewStoredKeyring(store)
		i := task.NewIDs(keys)
		id, err := i.Fresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Delete(t.Context(), "seal:key"); err != nil {
			t.Fatal(err)
		}
		started := task.NewIDs(seal.NewStoredKeyring(store))
		if err := started.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := started.Ours(t.Context(), id); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("at first: %v", err)
		}
		own, err := started.Fresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ours, err := started.Ours(t.Context(), own[:len(own)-2]+"AA"); ours || err != nil {
			t.Errorf("one that was changed: %v, %v", ours, err)
		}
		time.Sleep(5 * time.Second)
		if err := errors.Join(i.Refresh(t.Context()), started.Refresh(t.Context())); err != nil {
			t.Fatal(err)
		}
		if ours, err := started.Ours(t.Context(), id); !ours || err != nil {
			t.Errorf("once it has heard: %v, %v", ours, err)
		}
		time.Sleep(5 * time.Second)
		foreign := "T" + strings.Repeat("A", task.IDLength-1)
		if ours, err := started.Ours(t.Context(), foreign); ours || err != nil {
			t.Errorf("nobody's: %v, %v", ours, err)
		}
	})
}

// While the deployment's secret is not known nobody can say whose an id is; what has not
// the form of one is not ours all the same.
func TestIDsWithoutTheSecret(t *testing.T) {
	store := memory(t)
	id, err := task.NewIDs(seal.NewStoredKeyring(store)).Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = store.Close()
	i := task.NewIDs(seal.NewStoredKeyring(store))
	if _, err := i.Ours(context.Background(), id); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if ours, err := i.Ours(context.Background(), "garbage"); ours || err != nil {
		t.Errorf("garbage: got %v, %v", ours, err)
	}
}
