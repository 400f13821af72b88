package timed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleepEndsWithItsContext(t *testing.T) {
	cause := errors.New("over")
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		began := time.Now()
		if err := Sleep(ctx, time.Second); err != nil || time.Since(began) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		if err := Sleep(ctx, 0); err != nil {
			t.Errorf("no time: got %v", err)
		}
		time.AfterFunc(time.Second, func() { end(cause) })
		if err := Sleep(ctx, time.Hour); err != cause || time.Since(began) != 2*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		for _, d := range []time.Duration{-1, 0, time.Hour} {
			if err := Sleep(ctx, d); err != cause {
				t.Errorf("%v once it is over: got %v", d, err)
			}
		}
	})
}
