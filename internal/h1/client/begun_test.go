package client

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// The wait for an answer counts from when whoever sends has read the clock, or from Send.
func TestTheWaitCountsFromWhenTheExchangeBegan(t *testing.T) {
	for _, ago := range []time.Duration{0, 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				_, _ = bufio.NewReader(far).WriteTo(silent{})
			}()
			c := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) { return near, nil }})
			defer c.Close()
			request := &exchange.Request{Method: wire.MethodGet, URL: &url.URL{Scheme: "http", Host: "a"}, Header: new(wire.Header)}
			sent := time.Now()
			if ago > 0 {
				request.Begun = sent.Add(-ago)
			}
			_, err := c.Send(t.Context(), request, time.Second)
			if failed, ok := errors.AsType[*exchange.SendError](err); !ok || !failed.TimedOut {
				t.Errorf("got %v", err)
			}
			if took := time.Since(sent); took != time.Second-ago {
				t.Errorf("begun %v ago: waited for %v more", ago, took)
			}
		})
	}
}

// silent takes all, and says nothing.
type silent struct{}

func (silent) Write(p []byte) (int, error) { return len(p), nil }
