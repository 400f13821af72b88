package mirrored

import (
	"testing"

	"berth/internal/mcp"
)

func TestParamIsTheArgument(t *testing.T) {
	for name, tc := range map[string]struct {
		arguments, parameter, value string
		as                          string // "": refused
	}{
		"the same":                {`{"cart":"c-7"}`, "Cart", "c-7", "c-7"},
		"in other words":          {`{"basket_id":"c-7"}`, "Basket-Id", "c-7", "c-7"},
		"another":                 {`{"cart":"c-8"}`, "Cart", "c-7", ""},
		"another letter case":     {`{"cart":"C-7"}`, "Cart", "c-7", ""},
		"escaped":                 {`{"cart":"\u00e9"}`, "Cart", "é", "é"},
		"no UTF-8":                {`{"other":1}`, "Cart", "\xff", ""},
		"an integer":              {`{"cart":42}`, "Cart", "42", "42"},
		"spelled otherwise":       {`{"cart":42}`, "Cart", "42.0", "42"},
		"another integer":         {`{"cart":42}`, "Cart", "43", ""},
		"beyond what is told":     {`{"cart":9007199254740993}`, "Cart", "9007199254740992", ""},
		"a string of digits":      {`{"cart":"42"}`, "Cart", "42.0", ""},
		"a boolean":               {`{"cart":true}`, "Cart", "true", "true"},
		"another boolean":         {`{"cart":true}`, "Cart", "True", ""},
		"null":                    {`{"cart":null}`, "Cart", "null", ""},
		"absent":                  {`{"other":1}`, "Cart", "c-7", "c-7"},
		"nested":                  {`{"cart":{"id":"c-7"}}`, "Cart", "c-7", "c-7"},
		"one of two":              {`{"cart":"x","Cart":"c-7"}`, "Cart", "c-7", "c-7"},
		"neither of two":          {`{"cart":"x","Cart":"y"}`, "Cart", "c-7", ""},
		"twice":                   {`{"cart":"x","cart":"c-7"}`, "Cart", "c-7", ""},
		"no arguments":            {`null`, "Cart", "c-7", "c-7"},
		"the sentinel, literally": {`{"cart":"=?base64?x?="}`, "Cart", "=?base64?x?=", "=?base64?x?="},
	} {
		t.Run(name, func(t *testing.T) {
			as, refusal := CheckParam([]byte(request("tools/call", `"name":"t","arguments":`+tc.arguments)), tc.parameter, tc.value)
			if as != tc.as || (refusal != nil) != (tc.as == "") || refusal != nil && refusal.Code != mcp.CodeHeaderMismatch {
				t.Errorf("got %q, %v, want %q", as, refusal, tc.as)
			}
		})
	}
	if _, refusal := CheckParam([]byte(request("tools/call", `"name":"t"`)), "Cart", "c-7"); refusal != nil {
		t.Errorf("without arguments: %v", refusal)
	}
}
