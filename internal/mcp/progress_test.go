package mcp

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"berth/internal/jsonobject/jsontest"
)

func TestProgressTokenIsReadRaw(t *testing.T) {
	for params, want := range map[string]string{
		`"_meta":{"progressToken":"\u0061"}`:    `"\u0061"`,
		`"_meta":{"progressToken": 1.50 }`:      `1.50`,
		`"_meta":{"progressToken":""}`:          `""`,
		`"_meta":{"progressToken":null}`:        ``,
		`"_meta":{"progressToken":{}}`:          ``,
		`"_meta":{}`:                            ``,
		`"_meta":[]`:                            ``,
		`"progressToken":1`:                     ``,
		`"arguments":{"progressToken":1},"a":1`: ``,
	} {
		if got := ProgressToken([]byte(request("tools/call", params))); string(got) != want || (got == nil) != (want == "") {
			t.Errorf("%s: got %q", params, got)
		}
	}
}

func progressOf(params string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{` + params + `}}`)
}

func TestPeekProgress(t *testing.T) {
	for params, want := range map[string]Progress{
		`"progressToken":"\u0061","progress":0.50,"total":1e2,"message":"a\nb"`: {[]byte(`"\u0061"`), "0.50", "1e2", "a\nb"},
		`"progressToken":7,"progress":1`:                                        {[]byte(`7`), "1", "", ""},
		`"progressToken":7,"progress":1,"total":null,"message":{}`:              {[]byte(`7`), "1", "", ""},
		`"progressToken":7,"progress":1,"total":"x","_meta":{"total":2}`:        {[]byte(`7`), "1", "", ""},
		// none of these tells how far what is:
		`"progress":1`:                                           {},
		`"progressToken":null,"progress":1`:                      {},
		`"progressToken":7`:                                      {},
		`"progressToken":7,"progress":"1"`:                       {},
		`"progressToken":7,"progressToken":8,"progress":1`:       {},
		`"progressToken":7,"progress":1,"progress":2`:            {},
		`"progressToken":7,"progress":1,"Message":"x"`:           {},
		`"progressToken":7,"progress":1},"params":{"progress":2`: {},
	} {
		got, ok := PeekProgress(progressOf(params))
		if !reflect.DeepEqual(got, want) || ok != (want.Token != nil) {
			t.Errorf("%s: got %q, %v", params, got, ok)
		}
	}
	for _, message := range []string{
		`{"method":"notifications/message","params":{"progressToken":7,"progress":1}}`,
		`{"method":"notifications/progress"}`, `{"method":"notifications/progress","params":[]}`,
		`{"id":1,"result":{}}`, `[]`, ``, `{"method":"notifications/progress","params":{"progressToken":7,"progress":1}`,
	} {
		if got, ok := PeekProgress([]byte(message)); ok {
			t.Errorf("%s: got %+v", message, got)
		}
	}
}

func TestProgressText(t *testing.T) {
	for want, p := range map[string]Progress{
		"42":                {Progress: "42"},
		"42/100":            {Progress: "42", Total: "100"},
		"42: rendering":     {Progress: "42", Message: "rendering"},
		"42/100: rendering": {Progress: "42", Total: "100", Message: "rendering"},
		"0.5/1.0: a b c":    {Progress: "0.5", Total: "1.0", Message: "\r\n a\x00\x1b b\u2028c\u0085"},
		"1: é half":         {Progress: "1", Message: "é\xff\ufffdhalf"},
		"2":                 {Progress: "2", Message: " \n\t "},
	} {
		if got := p.Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestProgressTextIsBounded(t *testing.T) {
	for name, p := range map[string]Progress{
		"a long message": {Progress: "1", Message: strings.Repeat("é", 1<<20)},
		"long numbers":   {Progress: strings.Repeat("1", 1<<20), Total: strings.Repeat("1", 1<<20)},
		"one letter off": {Progress: "12", Message: strings.Repeat("€", 1<<10)},
	} {
		got := p.Text()
		if len(got) > 1<<10 || len(got) < 1<<10-utf8.UTFMax || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%s: %d bytes, %q …", name, len(got), got[:10])
		}
	}
}

func TestProgressIsReplacedAlone(t *testing.T) {
	message := `{"jsonrpc":"2.0", "method":"notifications/progress","params":{ "_meta":{"progressToken":1}, "progressToken" : "ours" ,"progress":1.0}}`
	want := `{"jsonrpc":"2.0", "method":"notifications/progress","params":{ "_meta":{"progressToken":1}, "progressToken" : 7 ,"progress":1.0}}`
	if got := string(WithProgressToken([]byte(message), []byte("7"))); got != want {
		t.Errorf("got %s", got)
	}
	if got := string(WithProgress([]byte(message), "0.5")); got != strings.Replace(message, "1.0", "0.5", 1) {
		t.Errorf("got %s", got)
	}
}

func TestOwnProgressIsReadBack(t *testing.T) {
	for _, want := range []Progress{{[]byte(`"a\"b"`), "1", "", ""}, {[]byte("-7"), "0.25", "", "still\n\"at\" it"}} {
		message := NewProgress(want.Token, want.Progress, want.Message)
		if got, ok := PeekProgress(message); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q", message, got)
		}
		if m, _ := jsontest.Decode(t, message).(map[string]any); m["jsonrpc"] != "2.0" || m["id"] != nil {
			t.Errorf("not a notification: %s", message)
		}
	}
}
