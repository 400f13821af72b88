package discover

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answering is an API server that answers each request by a status, and says when to ask again.
type answering struct {
	status int
	after  string
	asked  []time.Time
}

func (a *answering) RoundTrip(*http.Request) (*http.Response, error) {
	a.asked = append(a.asked, time.Now())
	header := http.Header{}
	if a.after != "" {
		header.Set("Retry-After", a.after)
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// An API server that says when to ask again is asked no earlier, and no more than ten minutes later than by itself.
func TestAnAPIServerIsLeftAloneForAsLongAsItSays(t *testing.T) {
	for _, c := range []struct {
		status      int
		after       string
		least, most time.Duration // between the first question and the second
	}{
		{429, "7", 7 * time.Second, 8 * time.Second},
		{503, "7", 7 * time.Second, 8 * time.Second},
		{429, "0", 250 * time.Millisecond, time.Second},
		{429, "", 250 * time.Millisecond, time.Second},
		{429, "soon", 250 * time.Millisecond, time.Second},
		{403, "7", 250 * time.Millisecond, time.Second},
		{429, "86400", maxLater, maxLater + time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &answering{status: c.status, after: c.after}
			k := NewKubernetes(KubernetesOptions{Service: "mcp"})
			k.dial = func() (*kubeAPI, error) {
				return &kubeAPI{url: &url.URL{Scheme: "https", Host: "api"}, client: &http.Client{Transport: server}}, nil
			}
			ctx, end := context.WithCancel(t.Context())
			told := 0
			k.Watch(ctx, func([]Instance, error) {
				if told++; told == 2 {
					end()
				}
			})
			if got := server.asked[1].Sub(server.asked[0]); got < c.least || got > c.most {
				t.Errorf("%d, Retry-After %q: asked again after %v, want %v to %v", c.status, c.after, got, c.least, c.most)
			}
		})
	}
}
