package probe

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

func valid() Options {
	return Options{URL: "http://127.0.0.1:1/mcp", Rounds: 1, Rate: 1, Limit: time.Second}
}

func TestUnfitOptionsAreRefused(t *testing.T) {
	if err := valid().Validate(); err != nil {
		t.Errorf("got %v, want none", err)
	}
	const secret = "canary"
	cases := map[string]func(*Options){
		"no URL":              func(o *Options) { o.URL = "" },
		"no scheme":           func(o *Options) { o.URL = "127.0.0.1:1/mcp" },
		"other scheme":        func(o *Options) { o.URL = "ftp://127.0.0.1/mcp" },
		"no host":             func(o *Options) { o.URL = "http:///mcp" },
		"credentials":         func(o *Options) { o.URL = "http://me:" + secret + "@127.0.0.1/mcp" },
		"no URL at all":       func(o *Options) { o.URL = "http://me:" + secret + "@127.0.0.1:port/mcp" },
		"second":              func(o *Options) { o.Second = "http://me:" + secret + "@127.0.0.1/mcp" },
		"no rounds":           func(o *Options) { o.Rounds = 0 },
		"too many rounds":     func(o *Options) { o.Rounds = MaxRounds + 1 },
		"no rate":             func(o *Options) { o.Rate = 0 },
		"rate below 0":        func(o *Options) { o.Rate = -1 },
		"no time":             func(o *Options) { o.Limit = 0 },
		"arguments, no tool":  func(o *Options) { o.Args = json.RawMessage(`{}`) },
		"arguments, no JSON":  func(o *Options) { o.Tool, o.Args = "t", json.RawMessage(`{`+secret) },
		"arguments, null":     func(o *Options) { o.Tool, o.Args = "t", json.RawMessage(`null`) },
		"arguments, list":     func(o *Options) { o.Tool, o.Args = "t", json.RawMessage(`[]`) },
		"too many principals": func(o *Options) { o.Principals = make([]http.Header, 3) },
	}
	for name, change := range cases {
		o := valid()
		change(&o)
		err := o.Validate()
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want an error that repeats nothing", name, err)
		}
	}
}

func TestOnlyThisMachineIsLoopback(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:1/": true, "http://localhost/": true, "https://[::1]/": true, "http://127.9.9.9/": true, "http://[::ffff:127.0.0.1]/": true,
		"http://0.0.0.0/": false, "http://localhost.example/": false, "http://10.0.0.1/": false, "http://127.0.0.1.example/": false, "http://[::]/": false,
	} {
		o := valid()
		o.URL = url
		if got := o.OnLoopback(); got != want {
			t.Errorf("%s: got %v, want %v", url, got, want)
		}
		o.URL, o.Second = "http://127.0.0.1/", url
		if got := o.OnLoopback(); got != want {
			t.Errorf("second %s: got %v, want %v", url, got, want)
		}
	}
}
