package mcp

import (
	"testing"

	"berth/internal/wire"
)

// Bytes that readers take for different things are refused in all headers of a modern message that mirror its body, and in no other.
func TestHeadersThatMirrorTheBodyHoldPlainTextOnly(t *testing.T) {
	const odd = "gr\u00fcn"
	params := `"name":"` + odd + `",` + meta
	for name, tc := range map[string]struct {
		method string
		params string
		header *wire.Header
		want   bool
	}{
		"nothing odd":       {"tools/call", meta, wire.NewHeader(HeaderVersion, modern), false},
		"a name":            {"tools/call", params, wire.NewHeader(HeaderVersion, modern, HeaderName, odd), true},
		"a method":          {odd, meta, wire.NewHeader(HeaderVersion, modern, HeaderMethod, odd), true},
		"a parameter":       {"tools/call", meta, wire.NewHeader(HeaderVersion, modern, HeaderParamPrefix+"Colour", "red", HeaderParamPrefix+"Colour", odd), true},
		"a tab":             {"tools/call", meta, wire.NewHeader(HeaderVersion, modern, HeaderParamPrefix+"Colour", "a\tb"), false},
		"a header of MCP's": {"tools/call", meta, wire.NewHeader(HeaderVersion, modern, HeaderSession, odd, "Mcp-Other", odd), false},
		"another header":    {"tools/call", meta, wire.NewHeader(HeaderVersion, modern, "User-Agent", odd), false},
		"the legacy era":    {"tools/call", "", wire.NewHeader(HeaderVersion, legacy, HeaderName, odd, HeaderParamPrefix+"Colour", odd), false},
	} {
		t.Run(name, func(t *testing.T) {
			msg := new(Message)
			if _, refusal := msg.Peek([]byte(request(tc.method, tc.params)), testBatch); refusal != nil {
				t.Fatal(refusal)
			}
			if refusal := ClassifyStrictly(msg, tc.header); (refusal != nil) != tc.want || refusal != nil && refusal.Code != CodeHeaderMismatch {
				t.Errorf("got %v, refused: %v", refusal, tc.want)
			}
			if refusal := Classify(msg, tc.header); refusal != nil {
				t.Errorf("Classify: %v", refusal)
			}
		})
	}
}
