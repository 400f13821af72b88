package file

import (
	"context"
	"testing"
	"time"

	"berth/internal/storage/engine"
)

// leaver is a caller who leaves as soon as what it asks for is under way.
type leaver struct {
	context.Context
	looks int
}

// Done implements context.Context. Who hands a change over looks once, and again for its end.
func (l *leaver) Done() <-chan struct{} {
	if l.looks++; l.looks == 1 {
		return nil
	}
	return l.Context.Done()
}

// A change to a file outlives a caller who leaves. What it writes then is what was asked for, whatever is in that caller's buffer.
func TestWhatAFileWritesLaterIsItsOwn(t *testing.T) {
	e := openEngine(t)
	before, err := e.db.Begin(true) // the commit waits for its end
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	value := []byte("asked")
	err = e.Each(&leaver{Context: gone}, []engine.Write{{Key: "k", Value: value, TTL: time.Hour}})
	copy(value, "other")
	if ended := before.Rollback(); err == nil || ended != nil {
		t.Fatalf("got %v, and %v", err, ended)
	}
	if err := e.Put(t.Context(), "next", nil, time.Hour); err != nil { // behind it
		t.Fatal(err)
	}
	if got, err := e.Get(t.Context(), "k"); err != nil || string(got.Value) != "asked" {
		t.Errorf("got %q, %v", got.Value, err)
	}
}
