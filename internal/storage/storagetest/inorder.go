package storagetest

import (
	"context"

	"berth/internal/storage"
)

// inOrder: steps are done as far as the first that another record stands in the way of.
func (c *contract) inOrder() {
	store, ok := c.engine.(interface {
		InOrder(ctx context.Context, steps ...storage.Step) (int, storage.Record, error)
	})
	if !ok {
		c.Skip("no store")
	}
	ctx := c.Context()
	do := func(want int, stands string, steps ...storage.Step) {
		c.Helper()
		done, standing, err := store.InOrder(ctx, steps...)
		if err != nil || done != want || string(standing.Value) != stands {
			c.Fatalf("got %d done, %q standing, %v, want %d, %q", done, standing.Value, err, want, stands)
		}
	}
	value := func(text string) []byte { return []byte(text) }
	do(4, "", storage.Keeping("l", "a", long), storage.Putting("b", value("1"), long), storage.Making("a", value("2"), long), storage.Keeping("m", "a", 0))
	do(1, "2", storage.Putting("b", value("3"), storage.KeepTTL), storage.Making("a", value("x"), long), storage.Deleting("b"))
	do(1, "2", storage.Removing("m", "a"), storage.Swapping("a", 7, value("x"), storage.KeepTTL), storage.Deleting("b"))
	do(0, "", storage.Swapping("none", 1, value("x"), storage.KeepTTL), storage.Deleting("b"))
	c.stands("a", "2", 1)
	c.stands("b", "3", 2)
	do(6, "", storage.Swapping("a", 1, value("4"), storage.KeepTTL), storage.Notifying("topic", "message"), storage.Deleting("b"),
		storage.Keeping("kept", "a", long), storage.Keeping("kept", "b", long), storage.Removing("l", "a"))
	c.stands("a", "4", 2)
	for list, want := range map[string]int{"l": 0, "m": 0, "kept": 2} {
		if got, err := c.engine.Members(ctx, list); err != nil || len(got) != want {
			c.Errorf("%s: got %q, %v, want %d members", list, got, err, want)
		}
	}
	if _, created := c.create("b", "5", long); !created {
		c.Error("b was not deleted")
	}
	do(1, "", storage.Putting("e", value("6"), short))
	c.awaitGone("e")
}
