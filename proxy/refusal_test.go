package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestMalformedMessagesReachNoUpstream: what two readers could understand
// differently, or what is no message, is refused before anybody else sees it.
func TestMalformedMessagesReachNoUpstream(t *testing.T) {
	b := start(t, setup{})
	const id = `"jsonrpc":"2.0","id":7,`
	for name, c := range map[string]struct {
		body   string
		code   int
		reason string // data.reason
		id     string // of the answer; "" if it has none
	}{
		"empty body":               {"", -32700, "", ""},
		"blanks":                   {" \n", -32700, "", ""},
		"truncated":                {`{` + id + `"method":"tools/list","params":{`, -32700, "", ""},
		"truncated in a string":    {`{` + id + `"method":"tools/li`, -32700, "", ""},
		"bytes after the message":  {`{` + id + `"method":"ping"}x`, -32700, "", ""},
		"two messages":             {`{` + id + `"method":"ping"}{` + id + `"method":"ping"}`, -32700, "", ""},
		"byte order mark":          {"\xef\xbb\xbf{" + id + `"method":"ping"}`, -32700, "", ""},
		"invalid UTF-8":            {`{` + id + `"method":"ping","params":{"x":"` + "\xff" + `"}}`, -32700, "", ""},
		"overlong UTF-8":           {`{` + id + `"method":"tasks/get","params":{"taskId":"` + "\xc0\xaf" + `"}}`, -32700, "", ""},
		"method twice":             {`{` + id + `"method":"tools/list","method":"tools/call"}`, -32600, "duplicate_key", "7"},
		"method twice, escaped":    {`{` + id + `"method":"tools/list","m\u0065thod":"tools/call"}`, -32600, "duplicate_key", "7"},
		"method in another case":   {`{` + id + `"method":"tools/list","Method":"tools/call"}`, -32600, "key_case", "7"},
		"params twice":             {`{` + id + `"method":"tasks/get","params":{},"params":{"taskId":"x"}}`, -32600, "duplicate_key", "7"},
		"taskId twice":             {`{` + id + `"method":"tasks/get","params":{"taskId":"x","taskId":"y"}}`, -32600, "duplicate_key", "7"},
		"name twice":               {`{` + id + `"method":"tools/call","params":{"name":"greet","name":"who"}}`, -32600, "duplicate_key", "7"},
		"_meta twice":              {`{` + id + `"method":"ping","params":{"_meta":{},"_meta":{}}}`, -32600, "duplicate_key", "7"},
		"no object":                {`"ping"`, -32600, "", ""},
		"no version":               {`{"id":7,"method":"ping"}`, -32600, "", "7"},
		"id is an object":          {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "", ""},
		"neither method nor error": {`{"jsonrpc":"2.0","id":7}`, -32600, "", "7"},
		"poll without an id":       {`{"jsonrpc":"2.0","method":"tasks/get","params":{"taskId":"x"}}`, -32600, "", ""},
		"cancel without an id":     {`{"jsonrpc":"2.0","method":"tasks/cancel","params":{"taskId":"x"}}`, -32600, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.post(c.body)
			got := r.parsed()
			if r.status != http.StatusBadRequest || got.Error.Code != c.code || got.Error.Data.Reason != c.reason || string(got.ID) != c.id {
				t.Errorf("got %v, want 400, %d, reason %q, id %q", r, c.code, c.reason, c.id)
			}
			if r.header.Get("Content-Type") != "application/json" {
				t.Errorf("got type %q, want JSON", r.header.Get("Content-Type"))
			}
		})
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

// TestBatchesBelongToOneRevision: 2025-03-26 is the only revision that has them.
func TestBatchesBelongToOneRevision(t *testing.T) {
	b := start(t, setup{})
	batch := "[" + message("ping", "") + "]"
	for version, want := range map[string]int{
		"2025-03-26": 200, "2025-06-18": 400, "2025-11-25": 400, "2026-07-28": 400, "2031-01-01": 400,
	} {
		before := b.contacted()
		r := b.post(batch, "Mcp-Protocol-Version", version)
		if r.status != want || want == 400 && r.code() != -32600 {
			t.Errorf("%s: got %v, want %d", version, r, want)
		}
		if reached := b.contacted() > before; reached != (want == 200) {
			t.Errorf("%s: forwarded is %v, want %v", version, reached, want == 200)
		}
	}
}

func TestBatchIsBounded(t *testing.T) {
	b := start(t, setup{})
	batch := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(message("ping", "")+",", n), ",") + "]"
	}
	if r := b.post(batch(101)); r.status != 400 || r.code() != -32600 || b.contacted() != 0 {
		t.Errorf("101 messages: got %v, %d forwarded, want 400 -32600, none", r, b.contacted())
	}
	if r := b.post(batch(100)); r.status != 200 || b.calls("ping") != 100 {
		t.Errorf("100 messages: got %d, %d calls at the upstream, want 200, 100", r.status, b.calls("ping"))
	}
	if r := b.post("[]"); r.status != 400 || r.code() != -32600 {
		t.Errorf("no message: got %v, want 400 -32600", r)
	}
}

// TestTaskIDsThatCannotExistCostNothing: no server can have given them out, so
// neither the map nor the fleet is asked.
func TestTaskIDsThatCannotExistCostNothing(t *testing.T) {
	b := start(t, setup{})
	for name, id := range map[string]string{
		"empty": `""`, "a number": `17`, "null": `null`, "an object": `{"a":1}`,
		"257 bytes": `"` + strings.Repeat("i", 257) + `"`, "10 kB": `"` + strings.Repeat("i", 10_000) + `"`,
		"lone surrogate": `"a\ud800b"`, "NUL": `"a\u0000b"`, "line feed": `"a\nb"`, "escape": `"\u001b[31m"`, "C1 control": `"\u0085"`,
	} {
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/pause"} {
			r := b.post(message(method, `"taskId":`+id))
			if r.status != 200 || r.code() != -32602 {
				t.Errorf("%s, %s: got %v, want 200 -32602", method, name, r)
			}
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
	if n := b.storeOperations(); n != 0 {
		t.Errorf("the store was used %d times, want never", n)
	}
	if log := b.access.String() + b.logs.String(); strings.ContainsAny(log, "\x00\x1b\u0085") || strings.Contains(log, `\u0000`) || strings.Contains(log, `\u001b`) {
		t.Error("control characters of a client stand in the log")
	}
	// The measure works: an id that could exist is looked up.
	b.post(message("tasks/get", byID("possible")))
	if b.storeOperations() == 0 || b.contacted() == 0 {
		t.Error("an id that could exist was not looked up")
	}
}

// TestRefusalsBearTheRequestsID: ids of clients collide and have many forms.
func TestRefusalsBearTheRequestsID(t *testing.T) {
	b := start(t, setup{})
	for _, id := range []string{`0`, `-1`, `"a"`, `1.50`, `12345678901234567890`, `"ü\u0041"`, `""`} {
		r := b.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tasks/get","params":{"taskId":""}}`, id))
		if !strings.Contains(r.body, `"id":`+id+`,`) {
			t.Errorf("id %s: got %s", id, r.body)
		}
	}
}
