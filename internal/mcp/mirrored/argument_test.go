package mirrored

import (
	"strings"
	"testing"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// schemas is the list of a tool whose arguments headers mirror.
const schemas = `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{
	"who":{"type":"string","x-mcp-header":"Who"}, "n":{"type":"integer","x-mcp-header":"N"}, "on":{"type":"boolean","x-mcp-header":"On"},
	"in":{"type":"object","properties":{"region":{"x-mcp-header":"tenantRegion"},"plain":{"type":"string"}}},
	"x-mcp-header":{"type":"string"}, "odd":{"x-mcp-header":5}, "empty":{"x-mcp-header":""}, "any":true,
	"blank":{"x-mcp-header":"A B"}, "real":{"type":"number","x-mcp-header":"Real"}
}}},{"name":"plain","inputSchema":{"type":"object"}}]}`

func TestCheckTakesOnlyHeadersThatRepeatTheArgument(t *testing.T) {
	tools := map[string][]Argument{}
	Add(tools, []byte(schemas))
	if len(tools) != 1 || len(tools["t"]) != 4 {
		t.Fatalf("got %v", tools)
	}
	for _, tc := range []struct {
		arguments, header, value string
		refused                  bool
	}{
		{`{}`, "", "", false},
		{`{"who":null}`, "", "", false},
		{`{}`, "Who", "a", true},
		{`{"who":null}`, "Who", "", true},
		{`{"in":{}}`, "Tenantregion", "eu", true},
		{`{}`, "Other", "a", false},
		{`{"who":"a"}`, "Who", "a", false},
		{`{"who":"a"}`, "Who", "  a ", false},
		{`{"who":"a"}`, "Who", "b", true},
		{`{"who":"a"}`, "", "", true},
		{`{"who":"a"}`, "Other", "a", true},
		{`{"who":"Hello"}`, "Who", "=?base64?SGVsbG8=?=", false},
		{`{"who":"Hell"}`, "Who", "=?base64?SGVsbG8=?=", true},
		{`{"who":"Hello"}`, "Who", "=?base64?SGVsbG8?=", true},
		{`{"who":"Hello"}`, "Who", "=?base64?SGVs!!!bG8=?=", true},
		{`{"who":"SGVsbG8="}`, "Who", "SGVsbG8=", false},
		{`{"who":"=?base64?SGVsbG8="}`, "Who", "=?base64?SGVsbG8=", false},
		{`{"n":42}`, "N", "42", false},
		{`{"n":42.0}`, "N", "42", false},
		{`{"n":42}`, "N", "43", true},
		{`{"n":9007199254740993}`, "N", "9007199254740992", true},
		{`{"n":9007199254740993}`, "N", "9007199254740993", false},
		{`{"on":true}`, "On", "true", false},
		{`{"on":true}`, "On", "false", true},
		{`{"in":{"region":"eu"}}`, "Tenantregion", "eu", false},
		{`{"in":{"region":"eu"}}`, "Tenantregion", "us", true},
		{`{"in":{"region":"eu"}}`, "", "", true},
		{`{"region":"eu","in":{"plain":"x"},"x-mcp-header":"y","odd":1,"empty":1}`, "", "", false},
		{`{"who":["a"]}`, "Who", "a", true},
		{`{"who":"a","who":"b"}`, "Who", "a", true},
		{`{"who":"a","who":"b"}`, "Who", "b", true},
		{`{"who":"a","wh\u006f":"b"}`, "Who", "a", true},
		{`{"in":{"region":"eu"},"in":{"region":"us"}}`, "Tenantregion", "eu", true},
		{`{"in":{"region":"eu","region":"us"}}`, "Tenantregion", "eu", true},
		{`{"in":"x"}`, "", "", false},
	} {
		h := new(wire.Header)
		if tc.header != "" {
			h.Set("Mcp-Param-"+tc.header, tc.value)
		}
		if got := checked(tools["t"], tc.arguments, h); (got != nil) != tc.refused || got != nil && (got.Code != mcp.CodeHeaderMismatch || got.Status != 400) {
			t.Errorf("%s with %v: got %v", tc.arguments, h, got)
		}
	}
	for _, arguments := range []string{`{"who":"a"}`, `{"who":""}`} {
		if got := checked(tools["t"], arguments, header("Mcp-Param-Who", "a", "Mcp-Param-Who", "b")); got == nil {
			t.Errorf("%s passes with two headers that differ", arguments)
		}
	}
}

func checked(mirrors []Argument, arguments string, h *wire.Header) *mcp.Error {
	for _, m := range mirrors {
		if refusal := m.Check([]byte(`{"params":{"arguments":`+arguments+`}}`), h); refusal != nil {
			return refusal
		}
	}
	return nil
}

// A later list is right where it speaks of a tool, and says nothing of others.
func TestALaterListOfToolsCorrects(t *testing.T) {
	tools := map[string][]Argument{}
	Add(tools, []byte(schemas))
	Add(tools, []byte(`{"tools":[{"name":"u","inputSchema":{"properties":{"a":{"x-mcp-header":"A"}}}}]}`))
	if len(tools["t"]) != 4 || len(tools["u"]) != 1 || tools["u"][0].Header != "Mcp-Param-A" {
		t.Errorf("got %v", tools)
	}
	Add(tools, []byte(`{"tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":5},{"inputSchema":{}}]}`))
	if tools["t"] != nil || len(tools) != 1 {
		t.Errorf("got %v", tools)
	}
	for _, none := range []string{`{}`, `{"tools":{}}`, `{"tools":[1]}`, ``, `{"tools":[{"name":"u"`} {
		Add(tools, []byte(none))
	}
	if len(tools) != 1 {
		t.Errorf("got %v", tools)
	}
}

// A schema as deep as one likes is read to a bound.
func TestSchemasAreReadToADepth(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat(`{"properties":{"a":`, n) + `{"x-mcp-header":"A"}` + strings.Repeat(`}}`, n)
	}
	for n, found := range map[int]bool{1: true, maxSchemaDepth: true, 3 * maxSchemaDepth: false} {
		tools := map[string][]Argument{}
		Add(tools, []byte(`{"tools":[{"name":"t","inputSchema":`+deep(n)+`}]}`))
		if (len(tools["t"]) == 1) != found {
			t.Errorf("%d deep: got %v", n, tools)
		}
	}
}
