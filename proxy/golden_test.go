package proxy_test

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// An answer is what a server says, to the byte.
type answer struct {
	status int
	header []string // pairs
	body   string
	flush  bool // without a Content-Length
}

func (a answer) write(w http.ResponseWriter) {
	h := w.Header()
	h["Content-Type"] = nil
	for i := 0; i < len(a.header); i += 2 {
		h[a.header[i]] = append(h[a.header[i]], a.header[i+1])
	}
	w.WriteHeader(a.status)
	io.WriteString(w, a.body)
	if a.flush {
		_ = http.NewResponseController(w).Flush()
	}
}

// answers of real servers, and of some that are not known yet.
var answers = map[string]struct {
	request string
	answer  answer
}{
	"result with odd spacing and numbers": {
		message("tools/call", `"name":"x"`),
		answer{200, []string{"Content-Type", jsonType, "Mcp-Future", "1", "Set-Cookie", "a=1", "Set-Cookie", "b=2"}, "{ \"jsonrpc\" : \"2.0\",\r\n\t\"id\":1,\"result\":{\"n\":[1.0,1e3,-0,1E+2,12345678901234567890],\"s\":\"\\u00fc\\/ü\",\"isError\":true}}\n", false},
	},
	"result without a length":     {message("tools/list", ""), answer{200, []string{"Content-Type", jsonType}, `{"jsonrpc":"2.0","id":1,"result":{}}`, true}},
	"result with a charset":       {message("tools/list", ""), answer{200, []string{"Content-Type", jsonType + "; charset=utf-8"}, `{"jsonrpc":"2.0","id":1,"result":{}}`, false}},
	"another id, duplicate names": {message("tools/list", ""), answer{200, []string{"Content-Type", jsonType}, `{"jsonrpc":"2.0","id":"zz","result":{"a":1,"a":2}}`, false}},
	"unknown method":              {message("no/such", ""), answer{404, []string{"Content-Type", jsonType}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`, false}},
	"unsupported version":         {modernMessage("server/discover", ""), answer{400, []string{"Content-Type", jsonType}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported","data":{"supported":["2026-07-28"],"requested":"x"}}}`, false}},
	"legacy server is discovered": {modernMessage("server/discover", ""), answer{400, []string{"Content-Type", jsonType}, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`, false}},
	"missing capability":          {message("tools/call", `"name":"x"`), answer{400, []string{"Content-Type", jsonType}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"m","data":{"requiredCapabilities":{}}}}`, false}},
	"unauthorized":                {message("tools/call", `"name":"x"`), answer{401, []string{"Www-Authenticate", `Bearer resource_metadata="https://x/.well-known/oauth-protected-resource"`, "Www-Authenticate", "Basic", "Content-Type", jsonType}, `{"error":"invalid_token"}`, false}},
	"unauthorized, empty":         {message("initialize", ""), answer{401, []string{"Www-Authenticate", "Bearer"}, "", false}},
	"forbidden":                   {message("tools/call", `"name":"x"`), answer{403, []string{"Www-Authenticate", `Bearer error="insufficient_scope", scope="a b"`, "Content-Type", "text/html"}, "<p>no</p>", false}},
	"too many requests":           {message("tools/call", `"name":"x"`), answer{429, []string{"Retry-After", "17", "X-Ratelimit-Reset", "1", "Content-Type", jsonType}, `{"error":"slow down"}`, false}},
	"text/plain 404":              {message("ping", ""), answer{404, []string{"Content-Type", "text/plain; charset=utf-8", "X-Content-Type-Options", "nosniff"}, "session not found\n", false}},
	"notification accepted":       {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, answer{202, nil, "", false}},
	"notification accepted, late": {`{"jsonrpc":"2.0","method":"notifications/future"}`, answer{202, nil, "", true}},
	"no content":                  {`{"jsonrpc":"2.0","method":"notifications/x"}`, answer{204, nil, "", false}},
	"body without a type":         {message("ping", ""), answer{200, nil, "<html>what is this", false}},
	"unavailable":                 {message("tools/call", `"name":"x"`), answer{503, []string{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT", "Content-Type", "text/plain"}, "overloaded", false}},
	"teapot":                      {message("ping", ""), answer{418, []string{"Content-Type", "application/octet-stream"}, "\x00\xff\r\n", false}},
	"encoded result":              {message("tools/list", ""), answer{200, []string{"Content-Type", jsonType, "Content-Encoding", "gzip"}, "\x1f\x8b\x08not really", false}},
	"events": {
		message("tools/call", `"name":"x"`),
		answer{200, []string{"Content-Type", "text/event-stream", "Cache-Control", "no-cache", "X-Accel-Buffering", "no"}, "\ufeffid: 1\ndata:\n\n: hello\n\nretry: 3\r\nevent: message\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata:  \"id\":1,\"result\":{}}\r\n\r\n\n\nunfinished", true},
	},
}

// TestAnswersPassUntouched compares what a server says to a client with what it
// says through berth.
func TestAnswersPassUntouched(t *testing.T) {
	for name, c := range answers {
		t.Run(name, func(t *testing.T) {
			b := start(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer.write(w) })})
			direct := fetch(t, http.MethodPost, b.upstreamURL(), c.request)
			through := b.post(c.request)
			if through.status != direct.status || through.body != direct.body {
				t.Errorf("got %d %q, want %d %q", through.status, through.body, direct.status, direct.body)
			}
			via := through.header.Values("Via")
			for _, h := range []http.Header{direct.header, through.header} {
				h.Del("Date")
				h.Del("Via")
				if h.Get("Content-Length") == "0" {
					h.Del("Content-Length") // no body, either way
				}
			}
			if !maps.EqualFunc(through.header, direct.header, slices.Equal) {
				t.Errorf("got headers %v, want %v", through.header, direct.header)
			}
			if !slices.Equal(via, []string{"1.1 berth"}) {
				t.Errorf("got Via %q", via)
			}
		})
	}
}

// TestRequestsPassUntouched: nothing is re-encoded, whatever era, version and
// method a client claims to speak.
func TestRequestsPassUntouched(t *testing.T) {
	m := new(mirror)
	b := start(t, setup{handler: m})
	for name, c := range map[string]struct {
		body   string
		header []string
	}{
		"odd spacing and numbers":       {"\n{ \"jsonrpc\" :\t\"2.0\", \"id\": 1.0e0 ,\r\n\"method\":\"tools/call\",\"params\":{\"name\":\"x\",\"arguments\":{\"a\":[1.0,-0,1E+2,12345678901234567890],\"b\":\"\\u00fc\\/ü\\ud83d\\ude00\",\"c\":{\"d\":1,\"d\":2}}}}  ", nil},
		"future version":                {message("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-12-31"}`), []string{"Mcp-Protocol-Version", "2031-12-31", "Mcp-Method", "tools/list"}},
		"a draft's name":                {message("tools/list", ""), []string{"Mcp-Protocol-Version", "DRAFT-2027-v3"}},
		"future method":                 {modernMessage("galaxies/merge", `"name":"andromeda"`), modernHeader("galaxies/merge", "whatever")},
		"future notification":           {`{"jsonrpc":"2.0","method":"notifications/galaxies/merged","params":{"x":[]}}`, nil},
		"params are a list":             {`{"jsonrpc":"2.0","id":1,"method":"ping","params":[1,2]}`, nil},
		"unknown members":               {`{"jsonrpc":"2.0","id":1,"method":"ping","trace":{"x":1},"params":{}}`, nil},
		"lone surrogate outside of ids": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"s":"\ud800"}}}`, nil},
		"oldest revision":               {message("initialize", `"protocolVersion":"2024-11-05"`), nil},
	} {
		if r := b.post(c.body, c.header...); r.status != 200 {
			t.Errorf("%s: got %v, want 200", name, r)
			continue
		}
		got, body := m.seen()
		if body != c.body {
			t.Errorf("%s: upstream saw %q, want %q", name, body, c.body)
		}
		if got.ContentLength != int64(len(c.body)) {
			t.Errorf("%s: upstream saw length %d, want %d", name, got.ContentLength, len(c.body))
		}
		for i := 0; i < len(c.header); i += 2 {
			if v := got.Header.Get(c.header[i]); v != strings.TrimSpace(c.header[i+1]) {
				t.Errorf("%s: upstream saw %s %q, want %q", name, c.header[i], v, c.header[i+1])
			}
		}
	}
}

// TestOneURLServesAllEras: a client that finds out what the server speaks asks in
// one era and goes on in another, at the same address.
func TestOneURLServesAllEras(t *testing.T) {
	b := start(t, setup{})
	if r := b.modern("server/discover", "", ""); r.status != 200 {
		t.Errorf("modern: got %v", r)
	}
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		session := b.open(version)
		r := b.post(message("tools/call", `"name":"who"`), "Mcp-Protocol-Version", version, "Mcp-Session-Id", session)
		if r.status != 200 || r.code() != 0 {
			t.Errorf("%s with a session: got %v", version, r)
		}
		if r := b.post(message("tools/call", `"name":"who"`), "Mcp-Protocol-Version", version); r.status != 200 {
			t.Errorf("%s without: got %v", version, r)
		}
	}
	if r := b.modern("tools/call", "who", `"name":"who"`, "Mcp-Session-Id", "left over from another era"); r.status != 200 {
		t.Errorf("modern with a session header: got %v, want it ignored", r)
	}
}
