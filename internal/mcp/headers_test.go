package mcp

import (
	"strings"
	"testing"
)

func TestANameIsDecodedOnce(t *testing.T) {
	for value, want := range map[string]string{
		"":                                    "",
		"greet":                               "greet",
		"\t greet \t":                         "greet",
		"two words":                           "two words",
		"=?base64?SGVsbG8sIOS4lueVjA==?=":     "Hello, 世界",
		"=?base64?IHBhZGRlZCA=?=":             " padded ",
		"=?base64?bGluZTEKbGluZTI=?=":         "line1\nline2",
		"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=": "=?base64?literal?=",
		"=?base64??=":                         "",
		"=?base64?=":                          "=?base64?=",
		"=?base64?QQ==":                       "=?base64?QQ==",
		"=?BASE64?QQ==?=":                     "=?BASE64?QQ==?=",
		"=?Base64?QQ==?=":                     "=?Base64?QQ==?=",
		"=?utf-8?B?QQ==?=":                    "=?utf-8?B?QQ==?=",
		"x=?base64?QQ==?=":                    "x=?base64?QQ==?=",
		"=?base64?QQ==?=x":                    "=?base64?QQ==?=x",
		"\u00a0not OWS\u00a0":                 "\u00a0not OWS\u00a0",
		"=?base64?PT9iYXNlNjQ/UVE9PT89?=":     "=?base64?QQ==?=", // decoded once only
	} {
		if got, ok := DecodeName(value); !ok || got != want {
			t.Errorf("DecodeName(%q) = %q, %v, want %q", value, got, ok, want)
		}
	}
}

func TestDecodeNameRefusesBadBase64(t *testing.T) {
	for _, inner := range []string{"!", "QQ", "QQ=", "QQ===", "QR==", "Q Q=", "Pz8_", "=", "QQ==QQ==", "Q\nQ==", "QQ==\r", "\u00e9"} {
		if got, ok := DecodeName(sentinelPrefix + inner + sentinelSuffix); ok {
			t.Errorf("%q is taken for %q", inner, got)
		}
	}
}

func TestEncodeNameLeavesPlainValuesAlone(t *testing.T) {
	for value, plain := range map[string]bool{
		"": true, "greet": true, "two words": true, "=?BASE64?QQ==?=": true, "=?base64?QQ==": true,
		" a": false, "a\t": false, "a\tb": false, "a\x7f": false, "é": false, "a\r\nX: y": false,
		"=?base64??=": false, "=?base64?literal?=": false,
	} {
		if got := EncodeName(value); (got == value) != plain {
			t.Errorf("EncodeName(%q) = %q", value, got)
		}
	}
}

func FuzzNameCodec(f *testing.F) {
	for _, value := range []string{"", "greet", " a ", "世界", "=?base64?QQ==?=", "=?base64?QQ?=", "=?base64?=", "a\r\nb", "\xff", "\t", "=?BASE64?QQ==?="} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		DecodeName(value) // whatever it is, it does not panic
		encoded := EncodeName(value)
		if i := strings.IndexFunc(encoded, func(r rune) bool { return r < 0x20 || r > 0x7e }); i >= 0 {
			t.Fatalf("EncodeName(%q) = %q, no header value at %d", value, encoded, i)
		}
		if got, ok := DecodeName(" " + encoded + "\t"); !ok || got != value {
			t.Fatalf("%q became %q (%v) by way of %q", value, got, ok, encoded)
		}
	})
}
