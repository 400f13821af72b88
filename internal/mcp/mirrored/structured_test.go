package mirrored

import (
	"testing"

	"berth/internal/mcp"
	"berth/internal/wire"
)

func TestStructuredValue(t *testing.T) {
	content := func(members string) string { return `{"content":[],"structuredContent":{` + members + `}}` }
	for name, tc := range map[string]struct {
		result, parameter, value string
		ok                       bool
	}{
		"a string":                 {content(`"cart":"c-7"`), "Cart", "c-7", true},
		"an escaped string":        {content(`"cart":"\u00e4"`), "Cart", "ä", true},
		"an integer":               {content(`"cart":7`), "Cart", "7", true},
		"a boolean":                {content(`"cart":true`), "Cart", "true", true},
		"snake case":               {content(`"basket_id":"b"`), "Basket-Id", "b", true},
		"camel case":               {content(`"basketId":"b"`), "Basket-Id", "b", true},
		"of a task":                {`{"taskId":"1","result":` + content(`"cart":"c-7"`) + `}`, "Cart", "c-7", true},
		"another name":             {content(`"cartId":"c-7"`), "Cart", "", false},
		"a fraction":               {content(`"cart":7.5`), "Cart", "", false},
		"an exponent":              {content(`"cart":7e3`), "Cart", "", false},
		"an object":                {content(`"cart":{"id":"c-7"}`), "Cart", "", false},
		"null":                     {content(`"cart":null`), "Cart", "", false},
		"deeper down":              {content(`"order":{"cart":"c-7"}`), "Cart", "", false},
		"two spellings":            {content(`"cart":"a","Cart":"b"`), "Cart", "", false},
		"twice":                    {content(`"cart":"a","cart":"b"`), "Cart", "", false},
		"no structured content":    {`{"content":[{"type":"text","text":"cart c-7"}]}`, "Cart", "", false},
		"a list":                   {`{"structuredContent":["cart","c-7"]}`, "Cart", "", false},
		"nothing (it was cut off)": {"", "Cart", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if value, ok := StructuredValue([]byte(tc.result), tc.parameter); ok != tc.ok || ok && value != tc.value {
				t.Errorf("got %q, %v, want %q, %v", value, ok, tc.value, tc.ok)
			}
		})
	}
}

func TestHeaderValue(t *testing.T) {
	for name, tc := range map[string]struct {
		header  string
		values  []string
		value   string
		present bool
		refused bool
	}{
		"absent":             {"Mcp-Param-Cart", nil, "", false, false},
		"plain":              {"Mcp-Param-Cart", []string{" c-7\t"}, "c-7", true, false},
		"encoded":            {"Mcp-Param-Cart", []string{"=?base64?SGVsbG8sIOS4lueVjA==?="}, "Hello, 世界", true, false},
		"wrongly encoded":    {"Mcp-Param-Cart", []string{"=?base64?*?="}, "", false, true},
		"another's encoding": {"X-Cart", []string{"=?base64?*?="}, "=?base64?*?=", true, false},
		"twice the same":     {"Mcp-Param-Cart", []string{"a", "a"}, "a", true, false},
		"beyond ASCII":       {"Mcp-Param-Cart", []string{"c\xc3\xa9"}, "", false, true},
		"a control":          {"Mcp-Param-Cart", []string{"a\x7fb"}, "", false, true},
		"a tab within":       {"Mcp-Param-Cart", []string{"a\tb"}, "a\tb", true, false},
		"two values":         {"Mcp-Param-Cart", []string{"a", "b"}, "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := new(wire.Header)
			for _, value := range tc.values {
				h.Add(tc.header, value)
			}
			value, present, refusal := mcp.HeaderValue(h, tc.header)
			if value != tc.value || present != tc.present || (refusal != nil) != tc.refused {
				t.Errorf("got %q, %v, %v", value, present, refusal)
			}
			if refusal != nil && refusal.Code != mcp.CodeHeaderMismatch {
				t.Errorf("refused with %d", refusal.Code)
			}
		})
	}
}
