package upgrade

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
)

// A berth that dies while a call may yet be refused has recorded the call and its dispatch:
// the task fails as its holder's, and whoever makes the call again, by its key, gets that
// task and runs nothing a second time.
func TestHolderDiesWhileItsTaskIsWithheld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		b, other := berths[0], berths[1]
		time.Sleep(2 * testLease) // until what the store does not know is unknown
		c := creation(rule(nil), "once hang")
		c.Withhold = 100 * time.Millisecond
		h, _, err := b.Maker.CreateOnce(t.Context(), c, "key", nil)
		if err != nil {
			t.Fatal(err)
		}
		h.Start(&waiting{up: up, b: b})
		synctest.Wait()
		if v := b.see(t, h.ID); v.State != Dispatched || !b.Reader.Withholds(&v.Task) {
			t.Errorf("the task is %+v, want it sent and withheld", v.Task)
		}
		b.kill()
		if _, _, err := other.Maker.CreateOnce(context.Background(), c, "key", nil); err == nil {
			t.Error("repeated while nobody knows, and not refused")
		}
		time.Sleep(4 * testLease)
		again, earlier, err := other.Maker.CreateOnce(context.Background(), c, "key", nil)
		if err != nil || again != nil || earlier.ID != h.ID || earlier.State != Failed {
			t.Errorf("repeated: %+v, %v", earlier.Task, err)
		}
		if f := other.see(t, h.ID).failure(t); f.Data.Reason != mcp.ReasonHolderLost {
			t.Errorf("got %+v", f)
		}
		if n := up.count(); n != 1 {
			t.Errorf("the tool was called %d times", n)
		}
	})
}

// A handle of which the store was not told keeps its task from nobody for long.
func TestTaskIsNotWithheldForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		c := creation(rule(nil), "once hang")
		c.Withhold = 100 * time.Millisecond
		h, _, err := b.Maker.CreateOnce(t.Context(), c, "key", nil)
		if err != nil {
			t.Fatal(err)
		}
		h.Start(nil)
		time.Sleep(c.Withhold + withheldSpare + 10*time.Second)
		if _, earlier, err := b.Maker.CreateOnce(t.Context(), c, "key", nil); err != nil || earlier.ID != h.ID {
			t.Errorf("repeated: %+v, %v", earlier.Task, err)
		}
	})
}

// Where nobody can come upon a task before its client has the handle, no step says that.
func TestOnlyWhatCanBeFoundIsWithheld(t *testing.T) {
	b := startBerths(t, 1, settings{}, newTool())[0]
	for name, change := range map[string]func(*Creation){
		"nobody's": func(c *Creation) { c.Principal = "" },
		"at once":  func(c *Creation) { c.Withhold = 0 },
	} {
		c := creation(rule(nil), "once hang")
		c.Withhold = 100 * time.Millisecond
		change(&c)
		h, err := b.Maker.Create(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if task := h.Task(); !task.Withheld.IsZero() {
			t.Errorf("%s: withheld until %v", name, task.Withheld)
		}
		h.Discard()
	}
}
