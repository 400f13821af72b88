package command

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/memnet"
	"berth/internal/preamble"
)

// Whoever lets clients in no more waits for those that were let in to begin, but not longer than anything has time.
func TestWhoNeverBeginsHasNoMoreTimeThanADrain(t *testing.T) {
	for name, c := range map[string]struct{ drain, within time.Duration }{
		"none":   {0, 0},
		"little": {100 * time.Millisecond, 100 * time.Millisecond},
		"enough": {time.Minute, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			inner := memnet.Listen("localhost")
			l := preamble.ReadProxy(inner, preamble.ProxyOptions{
				Trusted: func() []netip.Prefix {
					return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
				},
				Ended: func(net.Addr, error) {},
			})
			mute, err := inner.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer mute.Close()
			served := make(chan error, 1)
			go func() {
				_, err := l.Accept()
				served <- err
			}()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), c.drain)
			defer cancel()
			began := time.Now()
			stopAccepting(ctx, l, served)
			if took := time.Since(began); took != c.within {
				t.Errorf("%s: took %v", name, took)
			}
		})
	}
}
