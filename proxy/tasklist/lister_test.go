package tasklist

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"berth/proxy/fault"
)

// One caller's lists, however many, keep no other caller's waiting.
func TestOneCallersListsLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(nil, nil, nil)
		var held []func()
		for range listsByCaller {
			done, err := l.turn(t.Context(), "eve")
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, done)
		}
		refused := make(chan error)
		for range 2 * listsAtOnce {
			go func() {
				_, err := l.turn(t.Context(), "eve")
				refused <- err
			}()
		}
		synctest.Wait()
		done, err := l.turn(t.Context(), "alice")
		if err != nil {
			t.Fatalf("while one caller's lists are made and wait, another's: %v", err)
		}
		done()
		for range 2 * listsAtOnce {
			if err := <-refused; !errors.Is(err, fault.ListsBusy) {
				t.Errorf("a list that nobody has a turn for: %v", err)
			}
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := l.turn(gone, "eve"); !errors.Is(err, fault.ErrClientGone) {
			t.Errorf("a list whose client has left: %v", err)
		}
		for _, done := range held {
			done()
		}
		if done, err := l.turn(t.Context(), "eve"); err != nil {
			t.Errorf("once there is room again: %v", err)
		} else {
			done()
		}
	})
}
