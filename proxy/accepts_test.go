package proxy_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Whether a client takes an event stream is what its Accept says of it (RFC 9110, 12.5.1). Who names none is given JSON.
func TestEarlyStreamIsForThoseWhoAcceptEvents(t *testing.T) {
	for accept, want := range map[string]bool{
		"application/json, text/event-stream":       true,
		"text/event-stream":                         true,
		"TEXT/Event-Stream ; charset=utf-8; Q=0.1":  true,
		"text/event-stream;q=high":                  true,
		"*/*":                                       false,
		"application/json;q=0, */*":                 true,
		"text/*;q=0.5":                              true,
		"*/*;q=0, text/event-stream":                true,
		"":                                          false,
		"application/json":                          false,
		"application/json, text/event-stream;q=0":   false,
		"text/event-stream ; q = 0.000 , */*":       false,
		"text/*;q=0, */*":                           false,
		"application/json;x=text/event-stream":      false,
		"text/event-streams, application/*, text/x": false,
	} {
		t.Run(accept, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{options: withRule})
				f.servers[0].inject(after(11*time.Second, say(jsonType, doneJSON)))
				r := plainCalls["modern"](f, "")
				r.Header.Set("Accept", accept)
				if accept == "" {
					r.Header.Del("Accept")
				}
				resp := f.do(r)
				if got := resp.header.Get("Content-Type") == eventsType; got != want || resp.status != http.StatusOK {
					t.Errorf("got %v, want events: %v", resp, want)
				}
			})
		})
	}
}
