package sticky

import (
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// A binding that the master has and no replica does is not settled: this berth keeps
// it and offers it again, until a replica has it, though it finds it standing at the
// master each time.
func TestUnreplicatedBindingsStayPending(t *testing.T) {
	servers := redistest.StartReplicas(t, 1)
	master, replica := servers[0], servers[1]
	store, err := storage.Open(master.URL(), storage.Options{Durability: "replicas:1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	b := over(store, Options{Near: 10})
	b.run(t)
	realtest.Eventually(t, "the store is healthy", store.Healthy)

	replica.Stop()
	b.mustBind(t, task("1"), "a", 0)
	b.owns(t, "a", task("1"), SourceBound)
	key := "berth:" + task("1").Digest()
	if got := master.Do("GET", key); got == "$-1" {
		t.Error("the master has no binding")
	}
	tried := master.Monitor()
	realtest.Eventually(t, "it is offered again and again", func() bool { return tried.Count(`"wait"`) >= 3 })
	if got := b.local.pending.len(); got != 1 {
		t.Errorf("Pending while no replica has it: got %d, want 1", got)
	}

	replica.Cont()
	realtest.Eventually(t, "it is settled", func() bool { return b.local.pending.len() == 0 })
	if got, want := replica.Do("GET", key), master.Do("GET", key); got != want {
		t.Errorf("at the replica: got %q, want %q", got, want)
	}
	if stored, back := b.bound(t, outcomeStored), b.bound(t, outcomeWrittenBack); stored != 0 || back != 1 {
		t.Errorf("outcomes: got %d stored, %d written back; want 0, 1", stored, back)
	}
}
