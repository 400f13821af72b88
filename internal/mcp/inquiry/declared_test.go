package inquiry

import (
	"berth/internal/mcp"
	"encoding/json"
	"testing"
)

func TestCapabilitiesAreReadAlikeInEitherEra(t *testing.T) {
	for capabilities, want := range map[string]Declared{
		`{}`:                                              "none",
		`{"elicitation":{}}`:                              "elicitation.form",
		`{"elicitation":{"form":{}}}`:                     "elicitation.form",
		`{"elicitation":{"url":{}}}`:                      "elicitation.url",
		`{"elicitation":{"url":{},"form":{}}}`:            "elicitation.url elicitation.form",
		`{"elicitation":null,"sampling":false}`:           "none",
		`{"sampling":{"tools":{}},"roots":{}}`:            "sampling sampling.tools roots",
		`{"sampling":{"context":{}},"experimental":{}}`:   "sampling",
		`{"extensions":{"io.modelcontextprotocol/x":{}}}`: "none",
		`[]`:   "",
		`null`: "",
	} {
		for name, body := range map[string]string{
			"a call":     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}}}`,
			"initialize": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":` + capabilities + `}}`,
		} {
			var m mcp.Message
			_, refusal := m.Peek([]byte(body), 1)
			if refusal != nil {
				t.Fatal(refusal)
			}
			if got := DeclaredIn(m.Calls[0].Capabilities()); got != want {
				t.Errorf("%s with %s: got %q, want %q", name, capabilities, got, want)
			}
		}
	}
	var m mcp.Message
	_, _ = m.Peek([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","capabilities":{}}}`), 1)
	if got := DeclaredIn(m.Calls[0].Capabilities()); got != "" {
		t.Errorf("a call that says nothing: got %q", got)
	}
}

func TestWhatIsAskedAndNotDeclaredIsLacking(t *testing.T) {
	for _, c := range []struct {
		declared Declared
		request  string
		want     string
	}{
		{"", `{"method":"roots/list"}`, `null`},
		{"none", `{"method":"roots/list"}`, `{"roots":{}}`},
		{"roots", `{"method":"roots/list"}`, `null`},
		{"none", `{"method":"elicitation/create","params":{"message":"?"}}`, `{"elicitation":{"form":{}}}`},
		{"elicitation.form", `{"method":"elicitation/create","params":{"mode":"form"}}`, `null`},
		{"elicitation.form", `{"method":"elicitation/create","params":{"mode":"url"}}`, `{"elicitation":{"url":{}}}`},
		{"elicitation.url", `{"method":"elicitation/create"}`, `{"elicitation":{"form":{}}}`},
		{"sampling", `{"method":"sampling/createMessage","params":{}}`, `null`},
		{"sampling", `{"method":"sampling/createMessage","params":{"tools":[]}}`, `{"sampling":{"tools":{}}}`},
		{"sampling sampling.tools", `{"method":"sampling/createMessage","params":{"toolChoice":{}}}`, `null`},
		{"none", `{"method":"sampling/createMessage"}`, `{"sampling":{}}`},
		{"none", `{"method":"ping"}`, `null`},
		{"none", `{}`, `null`},
		{"none", `1`, `null`},
	} {
		got, _ := json.Marshal(c.declared.Lacks([]byte(c.request)))
		if string(got) != c.want {
			t.Errorf("%q of %q: got %s, want %s", c.request, c.declared, got, c.want)
		}
	}
}

// Capabilities are joined member by member, in whichever order they come, and those that were joined stay as they are.
func TestCapabilitiesAreJoined(t *testing.T) {
	type object = map[string]any
	for _, c := range []struct {
		all  []object
		want string
	}{
		{[]object{{"roots": struct{}{}}}, `{"roots":{}}`},
		{[]object{{"elicitation": object{"form": struct{}{}}}, {"elicitation": object{"url": struct{}{}}}}, `{"elicitation":{"form":{},"url":{}}}`},
		{[]object{{"sampling": struct{}{}}, {"sampling": object{"tools": struct{}{}}}}, `{"sampling":{"tools":{}}}`},
		{[]object{{"sampling": object{"tools": struct{}{}}}, {"sampling": struct{}{}}}, `{"sampling":{"tools":{}}}`},
		{[]object{{"sampling": struct{}{}}, {"roots": struct{}{}}, {"sampling": struct{}{}}}, `{"roots":{},"sampling":{}}`},
	} {
		before, _ := json.Marshal(c.all)
		var all object
		for _, more := range c.all {
			all = Join(all, more)
		}
		got, _ := json.Marshal(all)
		if string(got) != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if after, _ := json.Marshal(c.all); string(after) != string(before) {
			t.Errorf("%s became %s", before, after)
		}
	}
}
