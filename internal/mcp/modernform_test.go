package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestModernFormSaysWhatAModernResultSays(t *testing.T) {
	for name, tc := range map[string]struct {
		message   string
		cacheable bool
		want      string
	}{
		"a result":                       {`{"jsonrpc":"2.0","id":"b","result":{"content":[ 1.0 ] }}`, false, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[ 1.0 ] }}`},
		"an empty one":                   {`{"id":"b","result":{ }}`, false, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete"}}`},
		"a list":                         {`{"id":"b","result":{ "tools":[]}}`, true, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}}`},
		"an empty list":                  {`{"id":"b","result":{}}`, true, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private"}}`},
		"its own members":                {`{"id":"b","result":{"resultType":"task","ttlMs":9,"cacheScope":"public","x":1}}`, true, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","x":1}}`},
		"one of its own":                 {`{"id":"b","result":{"x":1,"ttlMs":9}}`, true, `{"jsonrpc":"2.0","id":7,"result":{"x":1,"ttlMs":0,"resultType":"complete","cacheScope":"private"}}`},
		"another":                        {`{"id":"b","result":{"cacheScope":"public"}}`, true, `{"jsonrpc":"2.0","id":7,"result":{"cacheScope":"private","resultType":"complete","ttlMs":0}}`},
		"not to be cached, all the same": {`{"id":"b","result":{"ttlMs":9,"x":1}}`, false, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","ttlMs":9,"x":1}}`},
		"the name further down":          {`{"id":"b","result":{"x":{"resultType":"y"}}}`, false, `{"jsonrpc":"2.0","id":7,"result":{"x":{"resultType":"y"},"resultType":"complete"}}`},
		"the name in a text":             {`{"id":"b","result":{"x":"\"resultType\""}}`, false, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","x":"\"resultType\""}}`},
		"an error":                       {`{"id":"b","error":{"code":-32603,"message":"m","data":{"a": 1}}}`, true, `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"m","data":{"a": 1}}}`},
		"no such resource":               {`{"id":"b","error":{"code":-32002,"message":"m","data":{"uri":"u","code":-32002}}}`, true, `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"m","data":{"uri":"u","code":-32002}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(ModernForm([]byte(tc.message), []byte("7"), tc.cacheable)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// No member is doubled, and what is long stays as it is.
func TestModernFormOfABigResult(t *testing.T) {
	text := strings.Repeat("é \\u0041 ", 1<<18)
	for _, more := range []string{"", `,"resultType":"x"`} {
		got := ModernForm([]byte(`{"jsonrpc":"2.0","id":1,"result":{"text":"`+text+`"`+more+`}}`), []byte("2"), false)
		if !json.Valid(got) || !bytes.Contains(got, []byte(text)) || bytes.Count(got, []byte(`"resultType"`)) != 1 {
			t.Errorf("got %.200s of %d bytes", got, len(got))
		}
	}
}

func TestDiscoverFromTellsWhatInitializeTold(t *testing.T) {
	for initialized, want := range map[string]string{
		`{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{}}, "tools":{ "listChanged":true}},"serverInfo":{"name":"s","version":"1"},"instructions":"be \"kind\""}`: `{"resultType":"complete","supportedVersions":["v"],"capabilities":{"tools":{ "listChanged":true}},"instructions":"be \"kind\"","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
		`{"capabilities":{"tools":{"listChanged":null},"prompts":null,"experimental":{"x":{"y":null}}},"serverInfo":{"name":"s","version":null,"title":null},"instructions":null}`:  `{"resultType":"complete","supportedVersions":["v"],"capabilities":{"tools":{},"experimental":{"x":{"y":null}}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"unknown"}}}`,
		`{"capabilities":{},"serverInfo":{"version":"1"},"instructions":5}`: `{"resultType":"complete","supportedVersions":["v"],"capabilities":{},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"version":"1","name":"unknown"}}}`,
		`{"capabilities":[],"serverInfo":"s"}`:                              `{"resultType":"complete","supportedVersions":["v"],"capabilities":{},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":` + string(ownInfoJSON) + `}}`,
	} {
		if got := string(DiscoverFrom([]byte(initialized), "v")); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestHasCapability(t *testing.T) {
	initialized := []byte(`{"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":false},"logging":{},"completions":null}}`)
	for path, want := range map[string]bool{"tools": true, "tools listChanged": true, "prompts listChanged": false, "logging": true, "completions": false, "resources": false, "logging x": false} {
		if got := HasCapability(initialized, strings.Fields(path)...); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

func TestInputRequestIsMethodAndParams(t *testing.T) {
	for request, want := range map[string]string{
		`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"m","_meta":{"progressToken":1},"requestedSchema":{}, "x":1.0}}`: `{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}, "x":1.0}}`,
		`{"id":0,"method":"roots/list"}`:               `{"method":"roots/list"}`,
		`{"id":0,"method":"roots/list","params":null}`: `{"method":"roots/list"}`,
	} {
		if got := string(InputRequest([]byte(request))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAskFor(t *testing.T) {
	got := string(AskFor([]Input{{`a"`, []byte(`{"method":"roots/list"}`)}, {"b", []byte(`{}`)}}, `s"`))
	if want := `{"resultType":"input_required","inputRequests":{"a\"":{"method":"roots/list"},"b":{}},"requestState":"s\""}`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestSeverityOrdersLevels(t *testing.T) {
	last := -1
	for _, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		if s := Severity(LogLevelOf([]byte(`{"params":{"level":"` + level + `"}}`))); s <= last {
			t.Errorf("%s is %d, after %d", level, s, last)
		} else {
			last = s
		}
	}
	if Severity("") != -1 || Severity("Info") != -1 || LogLevelOf([]byte(`{"params":{"level":1}}`)) != "" {
		t.Error("what is no level is one")
	}
}

func TestIsElicitation(t *testing.T) {
	for request, want := range map[string]bool{`{"method":"elicitation/create"}`: true, `{"method":"sampling/createMessage"}`: false, `{"params":{"method":"elicitation/create"}}`: false} {
		if IsElicitation([]byte(request)) != want {
			t.Errorf("%s: not %v", request, want)
		}
	}
}
