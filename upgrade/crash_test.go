package upgrade

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"

	"pgregory.net/rapid"
)

// crashPoints are more operations than a berth needs for a task with one question.
const crashPoints = 36

// TestEveryCrashPoint has a berth die before and after each operation of a task's life,
// and another one see to what is left: beside it on a shared store, in its place on a
// file. The task ends, or waits for its client; the tool runs once; nothing is left over.
func TestEveryCrashPoint(t *testing.T) {
	for _, engine := range []string{"memory", "file"} {
		t.Run(engine, func(t *testing.T) {
			for point := 1; point <= crashPoints; point++ {
				for _, after := range []bool{false, true} {
					synctest.Test(t, func(t *testing.T) {
						url := "memory:"
						if engine == "file" {
							url = "file:" + filepath.Join(t.TempDir(), "berth.db")
						}
						store := openStore(t, url, storage.Options{})
						t.Cleanup(func() { _ = store.Close() })
						s := settings{at: newCell(store), keys: givenKeys(t), shared: engine == "memory"}
						dieAt(t, s, point, after)
					})
				}
			}
		})
	}
}

func dieAt(t *testing.T, s settings, point int, after bool) {
	t.Helper()
	up := newTool()
	b := newBerth(s, up)
	died := make(chan struct{})
	b.line.died = func() { close(died) }
	b.run()
	t.Cleanup(b.kill)
	time.Sleep(testLease / 2)
	b.line.burn(point, after)
	id := ""
	r := rule(func(r *Rule) { r.Concurrency, r.LivePerPrincipal = 1, 1 })
	if h, err := b.Create(t.Context(), creation(r, "call ask:k result/1s")); err == nil {
		id = h.Task().ID
		h.Start(nil)
		h.Handed()
		time.Sleep(100 * time.Millisecond)
		_ = b.Update(t.Context(), id, somebody, inputs("k", "1"), &Envelope{Bare: true})
	}
	select {
	case <-died:
	case <-time.After(20 * time.Second):
		t.Fatalf("point %d was not reached in 20 s", point)
	}
	b.clear()
	heir := newBerth(s, up)
	if err := heir.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	heir.run()
	t.Cleanup(heir.kill)
	time.Sleep(graceful + 5*time.Second)
	where := fmt.Sprintf("point %d, after %v", point, after)
	if id != "" {
		if v := heir.see(t, id); !v.State.Terminal() && v.State != InputRequired {
			t.Errorf("%s: the task is %s", where, v.State)
		}
	}
	for stage := range 2 {
		if n := up.times("call", stage); n > 1 {
			t.Errorf("%s: ran %d times in stage %d", where, n, stage)
		}
	}
	queue := r.terms(poolName).Queue
	for _, list := range []string{heir.lists.tasksOf(b.holder), heir.lists.tasksOf(heir.holder), heir.lists.waitingIn(queue), heir.lists.slotsOf(queue, "u")} {
		if left := heir.members(t, list); len(left) > 0 {
			t.Errorf("%s: %s still has %v", where, list, left)
		}
	}
}

// TestWorldOnRedis plays some scripts on a real server, with short leases.
func TestWorldOnRedis(t *testing.T) {
	server := redistest.Start(t)
	step := rapid.Custom(func(t *rapid.T) []act {
		return drawScript(t, append([]string{"flush"}, append(append([]string(nil), requests...), append(doomed, faults...)...)...))
	})
	for seed := range 4 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			store := openStore(t, server.URL(), storage.Options{Prefix: fmt.Sprint(seed, ":")})
			ctx, end := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				_ = store.Run(ctx)
			}()
			defer func() {
				end()
				<-over
				_ = store.Close()
			}()
			script := step.Example(seed + 1)
			w := &world{tool: newTool("u", "v"), pace: 20, settings: settings{at: newCell(store), keys: givenKeys(t), lease: 300 * time.Millisecond}}
			w.tool.pace = w.pace
			w.flush = func() {
				_ = server.Do("EVAL", `for _, k in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', k) end return 'OK'`, "0", fmt.Sprint(seed, ":*"))
			}
			w.play(script)
			for _, wrong := range w.wrong.all() {
				t.Error(wrong)
			}
			if t.Failed() {
				t.Logf("script:\n%s", lines(script))
			}
		})
	}
}
