package eras

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"berth/internal/jsonobject"
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

func TestDiscoverTellsOfCoreTasksAsTheExtension(t *testing.T) {
	for _, tt := range []struct{ name, initialized, want string }{
		{"tasks", `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"requests":{"tools":{"call":{}}}}}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{"beside others", `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}},"extensions":{"a/b":{}}}}`,
			`{"tools":{},"extensions":{"a/b":{},"io.modelcontextprotocol/tasks":{}}}`},
		{"no calls of tools", `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{}}}}`, `{}`},
		{"another revision", `{"protocolVersion":"2025-06-18","capabilities":{"tasks":{"requests":{"tools":{"call":{}}}}}}`, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := jsonobject.At(DiscoverFrom([]byte(tt.initialized), "2026-07-28"), "capabilities")
			if string(got) != tt.want {
				t.Errorf("capabilities: got %s, want %s", got, tt.want)
			}
		})
	}
}
