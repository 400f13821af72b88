package discover

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A disk that does not answer keeps nobody from going.
func TestAnAnswerThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, over := make(chan struct{}), make(chan struct{})
		ctx, end := context.WithCancel(t.Context())
		go func() {
			defer close(over)
			poll(ctx, func(context.Context) ([]Instance, time.Duration, error) {
				<-disk
				return nil, time.Second, nil
			}, func([]Instance, error) { t.Error("an answer is told that nobody waits for") })
		}()
		synctest.Wait()
		end()
		synctest.Wait()
		select {
		case <-over:
		default:
			t.Error("the answer is waited for")
		}
		close(disk)
	})
}
