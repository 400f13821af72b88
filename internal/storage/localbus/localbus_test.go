package localbus

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// A watcher that was too slow hears what there was room for, and that it missed some.
func TestOverflowIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Bus
		var heard []string
		release := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go s.Watch(ctx, "topic", func(message string) {
			heard = append(heard, message)
			if len(heard) == 1 {
				<-release
			}
		})
		synctest.Wait()
		for range waitingNotices + 5 {
			_ = s.Notify(ctx, "topic", "m")
		}
		close(release)
		synctest.Wait()
		told := 0
		for _, message := range heard {
			if message == "" {
				told++
			}
		}
		if told != 2 || len(heard) != waitingNotices+2 {
			t.Errorf("heard %d, of which %d tell of others; want %d and 2", len(heard), told, waitingNotices+2)
		}
		_ = s.Notify(ctx, "topic", "last")
		synctest.Wait()
		if !slices.Contains(heard, "last") {
			t.Error("nothing was heard afterwards")
		}
		cancel()
		synctest.Wait()
		if len(s.watchers) != 0 {
			t.Errorf("watchers left: %v", s.watchers)
		}
	})
}
