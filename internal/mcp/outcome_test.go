package mcp

import (
	"strings"
	"testing"
)

func TestOutcomeIsReadRaw(t *testing.T) {
	large := `{"content":"` + strings.Repeat("x", 2*MaxPeek) + `"}`
	for message, want := range map[string]struct{ result, failure string }{
		`{"jsonrpc":"2.0","id":1,"result": {"a": 1.0 } }`:                  {`{"a": 1.0 }`, ""},
		`{"id":1,"error": {"code": -1, "message":"x", "data":{"a" :1}} } `: {"", `{"code": -1, "message":"x", "data":{"a" :1}}`},
		`{"id":1,"error":null,"result":{}}`:                                {`{}`, ""},
		`{"id":1,"result":` + large + `}`:                                  {large, ""},
		`{"id":1,"result":null,"error":{"code":1}}`:                        {"", `{"code":1}`},
		`{"id":1,"result":{},"error":{"code":1}}`:                          {"", `{"code":1}`},
		`{"id":1,"error":"x"}`:                                             {},
		`{"id":1,"result":{},"error":"x"}`:                                 {},
		`{"id":1,"result":[]}`:                                             {},
		`{"id":1,"result":{},"result":{"a":1}}`:                            {},
		`{"id":1,"result":` + large + `,"result":{}}`:                      {},
		`{"id":1,"error":{"code":1},"error":null}`:                         {},
		`{"id":1,"result":{}}x`:                                            {},
		`{"id":1,"result":{}`:                                              {},
		`{"params":{"result":{},"error":{}}}`:                              {},
		`[{"id":1,"result":{}}]`:                                           {},
		``:                                                                 {},
	} {
		result, failure := ResultObject([]byte(message)), ErrorObject([]byte(message))
		if string(result) != want.result || string(failure) != want.failure {
			t.Errorf("%.100s: got %.100s, %s", message, result, failure)
		}
		if (result == nil) != (want.result == "") || (failure == nil) != (want.failure == "") {
			t.Errorf("%.100s: got an empty one for none", message)
		}
	}
}
