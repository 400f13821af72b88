//go:build e2e

package integration

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// The line between berth and its upstreams is cut again and again while it holds calls:
// each is resumed where it was. Nothing is lost, and nothing is run twice.
func TestCoreCallsOutliveCutLines(t *testing.T) {
	for _, r := range resumable {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			fleet := r.server.fleet(t)
			cuttable, lines := fleet.fronted(t, func(next http.Handler) http.Handler { return next })
			c := &coreBerths{fleet: cuttable, config: configFile(t, r.server.rules)}
			c.live = append(c.live, c.start(t))
			var working, asking []coreCall
			const sessions = 4
			for i := range sessions {
				s := openCore(t, c.any)
				begin := func(tool string, args map[string]any, want string) coreCall { return c.begin(t, s, tool, args, want) }
				working = append(working, begin(r.slow(fmt.Sprint("slow-", i), 5)))
				asking = append(asking, begin(r.asks(fmt.Sprint("asks-", i))))
			}
			c.awaitSeen(t, working, "at work", func(task coreTask) bool { return task.Message != "" })
			c.awaitSeen(t, asking, "waiting", func(task coreTask) bool { return task.Status == "input_required" })

			const cuts = 6
			for range cuts {
				for _, line := range lines {
					line.CloseClientConnections()
				}
				<-time.After(300 * time.Millisecond)
			}
			for _, call := range append(asking, working...) {
				call.wantDone(t)
			}
			r.server.wantOnce(t, fleet, 2*sessions, 0)
		})
	}
}
