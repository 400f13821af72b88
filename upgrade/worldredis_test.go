package upgrade

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"

	"pgregory.net/rapid"
)

// TestWorldOnRedis plays some scripts on a real server, with short leases.
func TestWorldOnRedis(t *testing.T) {
	onRedis(t, slices.Concat([]string{"flush"}, requests, doomed, faults), func(s settings) *world {
		w := &world{tool: newTool("u", "v"), pace: redisPace, settings: s}
		w.tool.pace = w.pace
		return w
	})
}

// TestOldWorldOnRedis does so in front of a server that holds sessions.
func TestOldWorldOnRedis(t *testing.T) {
	onRedis(t, slices.Concat([]string{"flush"}, oldRequests, oldDoomed, faults), func(s settings) *world {
		return newOldWorld(s, redisPace)
	})
}

// redisPace is how much faster than its script a world on a real server is.
const redisPace = 20

func onRedis(t *testing.T, what []string, begin func(s settings) *world) {
	server := redistest.Start(t)
	step := rapid.Custom(func(t *rapid.T) []act { return drawScript(t, what) })
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
			w := begin(settings{at: newCell(store), keys: givenKeys(t), lease: 300 * time.Millisecond})
			w.flush = func() {
				_ = server.Do("EVAL", `for _, k in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', k) end return 'OK'`, "0", fmt.Sprint(seed, ":*"))
			}
			w.play(script)
			if w.old != nil {
				w.old.stop()
			}
			for _, wrong := range w.wrong.all() {
				t.Error(wrong)
			}
			if t.Failed() {
				t.Logf("script:\n%s", lines(script))
			}
		})
	}
}
