package sticky

import (
	"errors"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// latest is the status of nobody's task, as Find and Latest have it, which agree.
func (b *berth) latest(t *testing.T, id string) string {
	t.Helper()
	latest, err := b.Latest(t.Context(), task(id))
	_, found, foundErr := b.Find(t.Context(), "p", id)
	if err != nil || foundErr != nil || latest != found {
		t.Errorf("Latest: got %+v, %v; Find: %+v, %v", latest, err, found, foundErr)
	}
	return latest.Status
}

func TestTheEndOfATaskThatAnotherBerthSawIsFound(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	for _, id := range []string{"ended", "running"} {
		if err := one.Bind(t.Context(), task(id), Binding{Upstream: "a", Status: "working"}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	two.Observe(task("ended"), new(two.owns(t, "a", task("ended"), SourceStore)), given())
	realtest.Eventually(t, "the end is written", func() bool {
		record, err := two.Reload(t.Context(), task("ended"))
		return err == nil && record.Status == "completed"
	})
	if remembered := one.owns(t, "a", task("ended"), SourceLRU); remembered.Status != "working" {
		t.Fatalf("the first berth remembers %q, so this shows nothing", remembered.Status)
	}
	if got := one.latest(t, "ended"); got != "completed" {
		t.Errorf("got %q, want completed", got)
	}
	if got := one.latest(t, "running"); got != "working" {
		t.Errorf("the other task: got %q, want working", got)
	}
	if _, _, err := one.Find(t.Context(), "p", "none"); !errors.Is(err, ErrUnknown) {
		t.Errorf("no task: got %v, want ErrUnknown", err)
	}
	anns := Key{Kind: Task, Pool: "p", Principal: "ann", ID: "anns"}
	if err := one.BindBeside(t.Context(), anns, Binding{Upstream: "a", Status: "working"}, time.Hour, Beside{Claim: Binding{Upstream: "a", Principal: "ann"}}); err != nil {
		t.Fatal(err)
	}
	two.Observe(anns, new(two.owns(t, "a", anns, SourceStore)), given())
	realtest.Eventually(t, "the end of ann's is found", func() bool {
		key, found, err := one.Find(t.Context(), "p", "anns")
		return err == nil && key == anns && found.Status == "completed"
	})
	server.Kill()
	if got := one.latest(t, "ended"); got != "working" {
		t.Errorf("with the store away: got %q, want what is remembered", got)
	}
}

// Nothing is written here: the end is what this berth alone has seen.
func TestTheEndOfATaskThatIsNotWrittenYetIsFound(t *testing.T) {
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b := over(store, Options{Near: 10})
	b.mustBind(t, task("1"), "a", time.Hour)
	b.Observe(task("1"), new(b.owns(t, "a", task("1"), SourceBound)), given())
	if got := b.latest(t, "1"); got != "completed" {
		t.Errorf("got %q, want completed", got)
	}
}
