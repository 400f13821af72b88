package proxy_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"berth/proxy"
	"berth/upgrade"
)

const discoverExtension = `"io.modelcontextprotocol/tasks"`

// discovery is an answer to server/discover with these capabilities.
func discovery(capabilities string) string {
	return `{ "jsonrpc":"2.0", "id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":` + capabilities + `,"ttlMs":1.0,"resultType":"complete"}}`
}

// Clients learn that the server takes tasks, and of nothing else that was not there.
func TestDiscoveryGainsTheExtension(t *testing.T) {
	otherPool := func(o *proxy.Options) { o.Rules = upgrade.Rules{{Pool: "other", Tools: []string{"*"}}} }
	bare, added := discovery(`{"tools":{}}`), discovery(`{"tools":{},"extensions":{`+discoverExtension+`:{}}}`)
	beside := discovery(`{"extensions":{"x/y":{"a": 1}, ` + discoverExtension + `:{"own": true}}}`)
	failure := `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","capabilities":{}}}`
	brim := discovery(`{"x":"`+strings.Repeat("x", 256<<10-len(discovery(`{"x":""}`)))+`"}`) + "\n"
	long := discovery(`{"x":"` + strings.Repeat("x", 256<<10) + `"}`)
	for name, c := range map[string]struct {
		rules       func(*proxy.Options)
		status      int
		contentType string
		body, want  string
	}{
		"JSON":                      {withRule, 200, jsonType, bare, added},
		"one of other extensions":   {withRule, 200, jsonType, discovery(`{"extensions":{"x/y":{"a": 1}}}`), discovery(`{"extensions":{"x/y":{"a": 1},` + discoverExtension + `:{}}}`)},
		"event":                     {withRule, 200, eventsType, ": hi\n\nid:7\nevent: message\ndata: " + bare + "\n\n", ": hi\n\nid:7\nevent: message\ndata: " + added + "\n\n"},
		"event on two lines, CRLF":  {withRule, 200, eventsType, "data:" + strings.Replace(bare, `, "id"`, ",\r\ndata:"+` "id"`, 1) + "\r\n\r\n", "data:" + strings.Replace(added, `, "id"`, ",\r\ndata:"+`"id"`, 1) + "\r\n\r\n"},
		"has it, JSON":              {withRule, 200, jsonType, beside, beside},
		"has it, event":             {withRule, 200, eventsType, "data:" + beside + "\n\n", "data:" + beside + "\n\n"},
		"no rule":                   {nil, 200, jsonType, bare, bare},
		"no rule for the pool":      {otherPool, 200, jsonType, bare, bare},
		"no rule, event":            {nil, 200, eventsType, "data:" + bare + "\n\n", "data:" + bare + "\n\n"},
		"an error":                  {withRule, 200, jsonType, failure, failure},
		"a refusal":                 {withRule, 400, jsonType, bare, bare},
		"an odd success":            {withRule, 203, eventsType, "data:" + bare + "\n\n", "data:" + bare + "\n\n"},
		"not to be understood":      {withRule, 200, jsonType, bare[:40], bare[:40]},
		"too long":                  {withRule, 200, jsonType, long, long},
		"too long by a line end":    {withRule, 200, jsonType, brim, brim},
		"too long, event":           {withRule, 200, eventsType, "data: " + long + "\n\n", "data: " + long + "\n\n"},
		"an event that is not over": {withRule, 200, eventsType, "data: " + bare + "\n", "data: " + added + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{options: c.rules})
			f.servers[0].inject(onMethod("server/discover", sayStatus(c.status, c.contentType, c.body)))
			r := f.modern("server/discover", "", "")
			if r.status != c.status || r.body != c.want {
				t.Errorf("got %d %.300q, want %.300q", r.status, r.body, c.want)
			}
			if length := r.header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(c.want)) {
				t.Errorf("Content-Length is %s, want %d", length, len(c.want))
			}
		})
	}
}

// An answer whose length is known is one whose length is known afterwards.
func TestDiscoveryHasItsLength(t *testing.T) {
	f := newRig(t, rigOptions{options: withRule})
	f.servers[0].inject(onMethod("server/discover", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		bare := discovery(`{}`)
		w.Header().Set("Content-Length", strconv.Itoa(len(bare)))
		return say(jsonType, bare)(w, r, body)
	}))
	want := discovery(`{"extensions":{` + discoverExtension + `:{}}}`)
	if r := f.modern("server/discover", "", ""); r.body != want || r.header.Get("Content-Length") != strconv.Itoa(len(want)) {
		t.Errorf("got %v %q, want %d bytes: %q", r.header, r.body, len(want), want)
	}
}

// A tool's answer that looks like a discovery is none.
func TestOtherAnswersGainNothing(t *testing.T) {
	f := newRig(t, rigOptions{options: withRule})
	f.servers[0].inject(onMethod("tools/list", say(jsonType, discovery(`{}`))))
	if r := f.modern("tools/list", "", ""); r.body != discovery(`{}`) {
		t.Errorf("got %s", r.body)
	}
}
