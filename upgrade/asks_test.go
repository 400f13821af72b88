package upgrade

import (
	"fmt"
	"strings"
	"testing"

	"berth/upgrade/task"
)

// What a call asks stands in its record: there is an end to how much.
func TestTooMuchAskedAtOnceIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ size, open int }{
		"in number": {0, task.MaxAsks}, "in bytes": {task.MaxAskBytes/2 - 200, 2}, "by one": {task.MaxAskBytes + 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
				id := berths[0].handCore(t, rule(nil), 0)
				soon()
				call := old.call(t, 0)
				for n := range c.open + 2 {
					n %= c.open + 1 // the first one is replayed
					call.say(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"%s"}}`, n, strings.Repeat("?", c.size))
				}
				soon()
				v := berths[1].statusOf(t, id, "input_required")
				if asks := v.OpenAsks(); len(asks) != c.open {
					t.Errorf("%d are open, want %d", len(asks), c.open)
				}
				if told := old.told(); len(told) != 1 || !strings.Contains(told[0], fmt.Sprintf(`"id":%d,"error"`, c.open)) {
					t.Errorf("told %.200q", told)
				}
				call.answer(`{}`)
				soon()
				berths[1].mustState(t, id, Completed)
			})
		})
	}
}
