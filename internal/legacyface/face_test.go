package legacyface

import (
	"net/url"
	"testing"
	"testing/synctest"

	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// A modern request is refused as the SDKs for legacy servers refuse it, and never passed on.
func TestModernRequestsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
		header := []string{mcp.HeaderVersion, "2026-07-28"}
		for name, response := range map[string]*wire.Response{
			"by its header":        c.post(request("1", "tools/call", `"name":"x"`), header...),
			"by its body":          c.post(request("1", "server/discover", meta)),
			"without a session":    (r.client()).post(request("1", "server/discover", meta), header...),
			"that is a GET":        c.get(header...),
			"that nobody can read": c.post(`rubbish`, header...),
		} {
			body := exchangetest.ReadAll(t, response)
			a, err := mcp.PeekAnswer([]byte(body), false)
			if response.Status != wire.StatusBadRequest || err != nil || a.ErrorCode != mcp.CodeBadRequest || a.HasID() {
				t.Errorf("%s: got %d %s", name, response.Status, body)
			}
		}
		if said := c.conn.heard(); len(said) != 0 {
			t.Errorf("the server was told %q", said)
		}
	})
}

// A session is one server's: another one behind the same face does not know it.
func TestASessionIsOneServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.client()
		c.URL = &url.URL{Scheme: "sse+http", Host: "one", Path: "/sse", RawQuery: "a=1"}
		response := c.post(opens)
		c.Session = response.Header.Get(mcp.HeaderSession)
		for at, status := range map[string]int{
			"sse+http://one/sse": 202, "sse+http://one/sse?b=2": 202,
			"sse+http://other/sse": 404, "sse+http://one/other": 404, "sse+https://one/sse": 404,
		} {
			c.URL, _ = url.Parse(at)
			if got := c.status(wire.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); got != status {
				t.Errorf("%s: got %d, want %d", at, got, status)
			}
		}
	})
}

func TestWhatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		nobody := r.client()
		stranger := r.client()
		stranger.Session = "made up"
		for name, tc := range map[string]struct {
			by           *client
			method, body string
			status       int
		}{
			"no session":      {nobody, wire.MethodPost, request("1", "tools/call", ""), 400},
			"no session: GET": {nobody, wire.MethodGet, "", 400},
			"unknown":         {stranger, wire.MethodPost, request("1", "tools/call", ""), 404},
			"unknown: GET":    {stranger, wire.MethodGet, "", 404},
			"unknown: DELETE": {stranger, wire.MethodDelete, "", 404},
			"rubbish":         {c, wire.MethodPost, `rubbish`, 400},
			"a batch":         {c, wire.MethodPost, `[` + request("1", "ping", "") + `]`, 400},
			"PUT":             {c, "PUT", "", 405},
		} {
			if got := tc.by.status(tc.method, tc.body); got != tc.status {
				t.Errorf("%s: got %d, want %d", name, got, tc.status)
			}
		}
		if said := c.conn.heard(); len(said) != 0 {
			t.Errorf("the server was told %q", said)
		}
	})
}

// A ping without a session asks whether the server is there.
func TestAPingWithoutASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		response := (r.client()).post(request(`"berth"`, "ping", ""))
		if got := exchangetest.ReadAll(t, response); response.Status != 200 || got != `{"jsonrpc":"2.0","id":"berth","result":{}}` || r.pinged != 1 {
			t.Errorf("got %d %s, pinged %d times", response.Status, got, r.pinged)
		}
	})
}
