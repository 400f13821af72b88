package webhooks

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/ledger"
)

// However many messages find no room, the log says so once a minute, and of how many.
func TestAFullOutboxIsToldOfOnceAMinute(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		b := start(t, s, r) // which does not know the receiver, so that all of them stay
		for i := range ledger.MaxMessages {
			if err := s.AddMember(t.Context(), b.ledger.Lists.ToldTo("ci"), fmt.Sprint("X", i, " end"), 24*time.Hour, 0); err != nil {
				t.Fatal(err)
			}
		}
		lose := func(n int) {
			for i := range n {
				b.complete(t, b.make(t, fmt.Sprint("T", time.Now().UnixNano(), i), ends...))
			}
		}
		lose(3)
		time.Sleep(30 * time.Second)
		lose(4)
		time.Sleep(5 * time.Minute)
		lose(1)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		b.end()
		var got []string
		for line := range strings.Lines(b.log.String()) {
			if _, n, ok := strings.Cut(line, " messages="); ok && strings.Contains(line, "is not kept") {
				got = append(got, strings.Fields(n)[0])
			}
		}
		if told := strings.Join(got, " "); told != "1 6 1" || b.value(t, "berth.webhook.given_up", reasonFull) != 8 {
			t.Errorf("told of %q in\n%s", told, b.log)
		}
	})
}
