package eras

import (
	"berth/internal/mcp"
	"errors"
	"strings"
	"testing"
)

// clientMeta is what a modern request says of its client.
const clientMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info"`

func TestLegacyFormTakesOffWhatIsOfTheModernEra(t *testing.T) {
	for name, tc := range map[string]struct{ body, token, want string }{
		"all of it": {
			` {"jsonrpc":"2.0", "id" : 7 ,"method":"tools/call","params":{"name":"x", "task":{"ttl":1}, "arguments":{ "n":1.0,"task":{},"requestState":"s" }, "requestState":"s", "inputResponses":{"k":{}}, "_meta":{` + clientMeta + `, "progressToken" : 3, "traceparent":"t"}, "x":null}} `,
			`"p"`,
			` {"jsonrpc":"2.0", "id" : "b" ,"method":"tools/call","params":{"name":"x", "arguments":{ "n":1.0,"task":{},"requestState":"s" }, "_meta":{"progressToken" : "p", "traceparent":"t"}, "x":null}} `,
		},
		"its own, which is no token": {
			`{"id":1,"params":{"_meta":{"progressToken":{},"x":1,` + clientMeta + `}}}`, ``,
			`{"id":"b","params":{"_meta":{"x":1}}}`,
		},
		"a token without _meta": {`{"id":1,"method":"x"}`, `"p"`, `{"id":"b","method":"x","params":{"_meta":{"progressToken":"p"}}}`},
		"nothing to take off":   {`{"id":1,"method":"x","params":{ "a" : [ 1 ] }}`, ``, `{"id":"b","method":"x","params":{ "a" : [ 1 ] }}`},
		"no params":             {`{"method":"x","id":1}`, ``, `{"method":"x","id":"b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var token []byte
			if tc.token != "" {
				token = []byte(tc.token)
			}
			got, err := LegacyForm([]byte(tc.body), []byte(`"b"`), token)
			if err != nil || string(got) != tc.want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, tc.want)
			}
		})
	}
}

func TestLegacyFormRefusesInTheWordsOfAnError(t *testing.T) {
	for body, code := range map[string]int{
		`{"id":1,"params":{"task":{},"task":{}}}`: mcp.CodeInvalidRequest,
		`{"id":1,"params":{"Task":{},"task":{}}}`: mcp.CodeInvalidRequest,
		`{"id":1,"params":{"_meta":[]}}`:          mcp.CodeInvalidParams,
		`{"id":1`:                                 mcp.CodeParse,
	} {
		got, err := LegacyForm([]byte(body), []byte("2"), []byte("3"))
		if refused, ok := errors.AsType[*mcp.Error](err); !ok || refused.Code != code {
			t.Errorf("%s: got %s, %v, want %d", body, got, err, code)
		}
	}
}

func TestClientOfReadsWhoSends(t *testing.T) {
	c := ClientOf([]byte(`{"params":{"_meta":{` + clientMeta + `}}}`))
	if c.Version != "2026-07-28" || string(c.Info) != `{"name":"c"}` || string(c.Capabilities) != "{}" || c.LogLevel != "info" || c.Declares() != "none" {
		t.Errorf("got %+v", c)
	}
	for _, body := range []string{`{}`, `{"params":{}}`, `{"params":{"_meta":[]}}`, `{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientInfo":"x","io.modelcontextprotocol/clientCapabilities":[]}}}`} {
		if c := ClientOf([]byte(body)); c.Version != "" || c.Info != nil || c.Capabilities != nil || c.Declares() != "" {
			t.Errorf("%s: got %+v", body, c)
		}
	}
}

// What a client is capable of names a session, so that order and blanks must not, nor whether it polls tasks.
func TestLegacyCapabilitiesAreOneForClientsThatDeclareAlike(t *testing.T) {
	for declared, want := range map[string]string{
		`{"sampling": { "tools":{} },"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{}}`: `{"elicitation":{},"sampling":{"tools":{}}}`,
		`{"extensions":{"io.modelcontextprotocol/tasks":{}, "x":{"a": 1}},"experimental":{"e":{}}}`:       `{"experimental":{"e":{}},"extensions":{"x":{"a":1}}}`,
		`{"extensions":[],"experimental":5,"other":{}}`:                                                   `{}`,
		`{"extensions":{}}`:                               `{}`,
		`{"elicitation":{}, "sampling":{"tools":{}}}`:     `{"elicitation":{},"sampling":{"tools":{}}}`,
		`{"roots":{"listChanged":true}}`:                  `{"roots":{"listChanged":true}}`,
		`{"roots":null,"sampling":true,"elicitation":[]}`: `{}`,
		`{}`: `{}`,
	} {
		c := Client{Capabilities: []byte(declared)}
		if got := string(c.LegacyCapabilities()); got != want {
			t.Errorf("%s: got %s, want %s", declared, got, want)
		}
		if asked := strings.Contains(want, "sampling") || strings.Contains(want, "roots"); c.Asked() != asked {
			t.Errorf("%s: may be asked: %v", declared, c.Asked())
		}
		if c := string(c.Capabilities); c != declared {
			t.Errorf("the declaration became %s", c)
		}
	}
}

func TestInitializeForSpeaksInTheClientsName(t *testing.T) {
	got := string(InitializeFor([]byte("1"), "2025-11-25", []byte(`{"roots":{}}`), []byte(`{"name":"c","version":"2"}`)))
	if want := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"2"}}}`; got != want {
		t.Errorf("got %s", got)
	}
	if got := string(InitializeFor([]byte("1"), "2025-11-25", []byte(`{}`), nil)); !strings.Contains(got, `"clientInfo":{"name":"berth"`) {
		t.Errorf("got %s", got)
	}
}
