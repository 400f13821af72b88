package proxy_test

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestContradictionsReachNoUpstream: a header that says another thing than the
// body could send a call past whoever checks the header only.
func TestContradictionsReachNoUpstream(t *testing.T) {
	b := start(t, setup{})
	one, two := b.makeTask(), b.makeTask()
	before := b.contacted()
	get := modernMessage("tasks/get", byID(one))
	call := modernMessage("tools/call", `"name":"greet","arguments":{"name":"x"}`)
	for name, c := range map[string]struct {
		body   string
		header []string
	}{
		"another method":           {call, modernHeader("tools/list", "greet")},
		"the method in capitals":   {call, modernHeader("TOOLS/CALL", "greet")},
		"another tool":             {call, modernHeader("tools/call", "who")},
		"another task":             {get, modernHeader("tasks/get", two)},
		"a bogus task":             {get, modernHeader("tasks/get", "nonesuch")},
		"an empty name":            {get, append(modernHeader("tasks/get", ""), "Mcp-Name", "")},
		"bad padding":              {get, modernHeader("tasks/get", "=?base64?YQ?=")},
		"bad alphabet":             {get, modernHeader("tasks/get", "=?base64?*&^?=")},
		"bits beyond the value":    {call, modernHeader("tools/call", "=?base64?Z3JlZXR=?=")}, // "greet", sloppily
		"another value, encoded":   {get, modernHeader("tasks/get", sentinel(two))},
		"sentinel in capitals":     {get, modernHeader("tasks/get", "=?BASE64?"+base64.StdEncoding.EncodeToString([]byte(one))+"?=")},
		"sentinel without its end": {get, modernHeader("tasks/get", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(one)))},
		"two names":                {get, append(modernHeader("tasks/get", one), "Mcp-Name", two)},
		"two methods":              {get, append(modernHeader("tasks/get", one), "Mcp-Method", "tasks/cancel")},
		"two versions":             {get, append(modernHeader("tasks/get", one), "Mcp-Protocol-Version", "2025-11-25")},
		"another version":          {get, []string{"Mcp-Protocol-Version", "2027-01-01", "Mcp-Method", "tasks/get", "Mcp-Name", one}},
		"a legacy version":         {get, []string{"Mcp-Protocol-Version", "2025-11-25", "Mcp-Method", "tasks/get", "Mcp-Name", one}},
		"half a character":         {modernMessage("tools/call", `"name":"\ud800"`), modernHeader("tools/call", sentinel("\uFFFD"))},
		"half a character beside one that is lost": {modernMessage("tools/call", `"name":"\ufffd\ud800"`), modernHeader("tools/call", sentinel("\uFFFD\uFFFD"))},
		"another resource":                         {modernMessage("resources/read", `"uri":"file:///a"`), modernHeader("resources/read", "file:///b")},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.post(c.body, c.header...)
			if r.status != 400 || r.code() != -32020 || string(r.parsed().ID) != "1" {
				t.Errorf("got %v, want 400 -32020 with the request's id", r)
			}
		})
	}
	long := `{"jsonrpc":"2.0","id":` + strings.Repeat("1", 1025) + `,"method":"ping"}`
	if r := b.post(long, modernHeader("tools/call", "greet")...); r.status != 400 || r.parsed().ID != nil {
		t.Errorf("an id that nobody is told: got %.200v, want 400 without it", r)
	}
	if n := b.contacted() - before; n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

func sentinel(value string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(value)) + "?="
}

// TestNamesAreComparedDecodedAndTrimmed: the same name has several spellings.
func TestNamesAreComparedDecodedAndTrimmed(t *testing.T) {
	b := start(t, setup{})
	id := b.makeTask()
	for spelling, header := range map[string][]string{
		"plain":       {"Mcp-Name", id},
		"encoded":     {"Mcp-Name", sentinel(id)},
		"blanks":      {"Mcp-Name", " \t" + id + " \t"},
		"mixed case":  {"mCP-nAME", id},
		"twice alike": {"Mcp-Name", id, "Mcp-Name", id},
	} {
		r := b.modern("tasks/get", "", byID(id), header...)
		if r.status != 200 || r.parsed().Result.TaskID != id {
			t.Errorf("%s: got %v, want the task", spelling, r)
		}
	}
	if n := b.fleet[b.owner("tasks/get")].Denied("tasks/get"); n != 0 {
		t.Errorf("the owner denied %d polls, want none", n)
	}
}

// TestMissingHeadersAreTheUpstreamsToJudge: the body says enough to route by, and
// how strict to be is not a proxy's choice.
func TestMissingHeadersAreTheUpstreamsToJudge(t *testing.T) {
	b := start(t, setup{})
	id := b.makeTask()
	owner := b.fleet[b.owner("tools/call")]
	for name, header := range map[string][]string{
		"no Mcp-Name":   modernHeader("tasks/get", ""),
		"no Mcp-Method": {"Mcp-Protocol-Version", "2026-07-28", "Mcp-Name", id},
		"no version":    {"Mcp-Method", "tasks/get", "Mcp-Name", id},
		"no headers":    nil,
	} {
		before := owner.Calls("tasks/get")
		r := b.post(modernMessage("tasks/get", byID(id)), header...)
		if owner.Calls("tasks/get") != before+1 {
			t.Errorf("%s: did not reach the owner: %v", name, r)
		}
		if r.status != 400 || r.code() != -32020 {
			t.Errorf("%s: got %v, want the owner's own 400 -32020", name, r)
		}
		for _, absent := range []string{"Mcp-Name", "Mcp-Method", "Mcp-Protocol-Version"} {
			if got := owner.LastHeader("tasks/get").Values(absent); len(got) > 0 && !contains(header, absent) {
				t.Errorf("%s: berth added %s: %q", name, absent, got)
			}
		}
	}
	if n := b.calls("tasks/get"); n != 4 {
		t.Errorf("%d polls at all instances, want 4", n)
	}
}

func contains(header []string, name string) bool {
	for i := 0; i < len(header); i += 2 {
		if header[i] == name {
			return true
		}
	}
	return false
}

// TestRoutingHeadersMeanNothingInTheLegacyEra: revisions before 2026-07-28 have
// none, so a stray one must neither route nor refuse.
func TestRoutingHeadersMeanNothingInTheLegacyEra(t *testing.T) {
	b := start(t, setup{})
	r := b.legacy("", "tools/call", slowTool+`,"task":{}`)
	id := r.parsed().Result.Task.TaskID
	if id == "" {
		t.Fatalf("no task: %v", r)
	}
	owner := b.fleet[b.owner("tools/call")]
	for i, header := range [][]string{
		{"Mcp-Protocol-Version", "2025-11-25", "Mcp-Name", "bogus", "Mcp-Method", "tools/list"},
		{"Mcp-Name", "bogus"},
		{"Mcp-Protocol-Version", "2025-06-18", "Mcp-Name", "=?base64?*?="},
	} {
		if r := b.post(message("tasks/get", byID(id)), header...); r.status != 200 || r.code() != 0 {
			t.Errorf("%v: got %v, want the task", header, r)
		}
		if got := owner.Calls("tasks/get"); got != i+1 {
			t.Errorf("%v: the owner saw %d polls, want %d", header, got, i+1)
		}
	}
}
