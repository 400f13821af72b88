package subscribe

import (
	"bytes"
	"errors"
	"testing"

	"berth/proxy/fault"
)

// Of equal notifications that wait one is as good as many; what was taken may come again.
func TestEqualNotificationsWaitOnce(t *testing.T) {
	b := newInbox()
	for _, raw := range []string{"a", "b", "a"} {
		b.post(report{raw: []byte(raw)})
	}
	reports, err := b.take()
	if err != nil || len(reports) != 2 || string(reports[0].raw) != "a" || string(reports[1].raw) != "b" {
		t.Errorf("got %v, %v, want a and b", reports, err)
	}
	b.post(report{raw: []byte("a")})
	if reports, err := b.take(); err != nil || len(reports) != 1 {
		t.Errorf("got %v, %v, want a again", reports, err)
	}
}

// A client that takes nothing ends, and what waits for it has a bound.
func TestInboxIsBounded(t *testing.T) {
	b := newInbox()
	for i := range 3 {
		b.post(report{raw: bytes.Repeat([]byte{byte(i)}, maxInbox/2)})
	}
	if _, err := b.take(); !errors.Is(err, fault.ErrClientGone) {
		t.Errorf("got %v, want errClientBehind", err)
	}
}

// One who waits for no shared stream is never woken by one.
func TestNoInboxIsNeverFilled(t *testing.T) {
	var b *inbox
	select {
	case <-b.filled():
		t.Error("it is filled")
	default:
	}
}
