package mcptest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// checkHeaders compares the routing headers with the body, which is what the
// server acts on (2026-07-28 streamable-http, "Server Validation"; for tasks
// ext-tasks, "Routing Headers").
func checkHeaders(h http.Header, c call) *refusal {
	if got := h.Get(headerVersion); got != c.Params.Meta.Version {
		return mismatch(headerVersion, got, c.Params.Meta.Version)
	}
	if got := h.Get("Mcp-Method"); got != c.Method {
		return mismatch("Mcp-Method", got, c.Method)
	}
	want, named := nameOf(c)
	if !named {
		return nil
	}
	got := h.Get("Mcp-Name")
	if decoded, ok := decodeName(got); !ok || decoded != want {
		return mismatch("Mcp-Name", got, want)
	}
	return nil
}

// nameOf is what Mcp-Name must repeat, for the methods that have a name.
func nameOf(c call) (name string, named bool) {
	switch c.Method {
	case "tools/call":
		return c.Params.Name, true
	case "tasks/get", "tasks/update", "tasks/cancel":
		return c.Params.TaskID, true
	}
	return "", false
}

// decodeName undoes the base64 form of header values ("Value Encoding").
func decodeName(v string) (name string, ok bool) {
	v = strings.Trim(v, " \t")
	encoded, found := strings.CutPrefix(v, "=?base64?")
	if !found {
		return v, true
	}
	if encoded, found = strings.CutSuffix(encoded, "?="); !found {
		return v, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return string(b), err == nil
}

func mismatch(header, got, want string) *refusal {
	return &refusal{http.StatusBadRequest, failure{
		Code:    codeHeaderMismatch,
		Message: fmt.Sprintf("Header mismatch: %s is %q, the body says %q", header, got, want),
	}}
}
