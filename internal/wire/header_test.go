package wire

import (
	"slices"
	"testing"
)

func TestAHeaderIsFoundHoweverItsNameIsSpelled(t *testing.T) {
	h := Header{"Mcp-Name": {"a", "b"}, "Origin": {""}, "Date": nil}
	for name, want := range map[string][]string{
		"Mcp-Name": {"a", "b"}, "mcp-name": {"a", "b"}, "MCP-NAME": {"a", "b"}, "origin": {""}, "Date": nil, "Via": nil, "via": nil, "": nil,
	} {
		if got := h.Values(name); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := Header(nil).Get("via"); got != "" {
		t.Errorf("got %q of no header", got)
	}
}

func TestAHeaderIsLackingThatSaysNothing(t *testing.T) {
	h := Header{"Mcp-Name": {"a"}, "Origin": {""}, "Date": nil}
	for name, want := range map[string]bool{"Mcp-Name": false, "Origin": true, "Date": true, "Via": true} {
		if got := h.Lacks(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
