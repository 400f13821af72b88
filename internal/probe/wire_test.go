package probe

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/memnet"
)

// The bound on requests is the wire's own, whatever the checks would like to send.
func TestNoMoreRequestsThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("a")
		seen := 0
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			seen++
		})}
		go server.Serve(l)
		defer server.Close()
		o := valid()
		o.URL, o.Dial, o.Rate = "http://a/mcp", memnet.Dialer(l), 1000
		w := newWire(o)
		defer w.close()
		w.most = 3
		for range 5 {
			w.notify(t.Context(), scope{}, "notifications/initialized")
		}
		if got := w.request(t.Context(), scope{}, "ping", nil); seen != 3 || !errors.Is(got.err, errBudget) || !got.unsent {
			t.Errorf("%d requests came, then %v, want 3 and %v", seen, got.err, errBudget)
		}
	})
}

func TestRetryAfterInBothForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for value, want := range map[string]time.Duration{
			"":    time.Second,
			"7":   7 * time.Second,
			"-7":  time.Second,
			"now": time.Second,
			time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat): 9 * time.Second,
			"Thu, 01 Jan 1970 00:00:00 GMT":                               0,
		} {
			if got := retryAfter(http.Header{"Retry-After": {value}}); got != want {
				t.Errorf("%q: got %v, want %v", value, got, want)
			}
		}
	})
}
