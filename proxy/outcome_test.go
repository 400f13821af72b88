package proxy_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
)

// fate is what an error says of its call.
func (r reply) fate(t *testing.T) (outcome string, mayHaveExecuted *bool) {
	t.Helper()
	body := r.body
	if i := strings.LastIndex(body, "data: {"); i >= 0 {
		body = body[i+len("data: "):]
	}
	var m struct {
		Error struct {
			Data struct {
				Outcome         string
				MayHaveExecuted *bool
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
	return m.Error.Data.Outcome, m.Error.Data.MayHaveExecuted
}

// Whoever gets an error of berth's in place of an answer learns whether the tool has run, and
// so whether the call may be made again.
func TestFailureOfARoutedCallSaysWhetherItRan(t *testing.T) {
	slow := func(e *proxy.Endpoint) { e.Timeouts.Call = time.Second }
	small := func(o *proxy.Options) { o.Limits.Answer = 1 << 10 }
	for name, c := range map[string]struct {
		answer   faultFunc // nil: nobody listens
		endpoint func(*proxy.Endpoint)
		options  func(*proxy.Options)
		outcome  string
	}{
		"nobody can be reached":  {nil, nil, nil, "not_executed"},
		"broken off":             {reset, nil, nil, "unknown"},
		"no answer in time":      {sayNothing, slow, nil, "unknown"},
		"a stream that breaks":   {breakAfter(": hello\n\n", false), nil, nil, "unknown"},
		"an answer that is none": {say(jsonType, "{"), nil, nil, "unknown"},
		"an answer too large":    {say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"x":"`+strings.Repeat("x", 2<<10)+`"}}`), nil, small, "executed"},
		"a redirect":             {sayStatus(http.StatusTemporaryRedirect, "", ""), nil, nil, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{endpoint: c.endpoint, options: c.options})
				for _, s := range f.servers {
					if c.answer == nil {
						s.kill()
						continue
					}
					s.inject(onMethod("tools/call", c.answer))
				}
				outcome, may := f.do(f.call("modern")).fate(t)
				if outcome != c.outcome || may == nil || *may != (c.outcome != "not_executed") {
					t.Errorf("got %q, %v, want %s", outcome, may, c.outcome)
				}
			})
		})
	}
}
