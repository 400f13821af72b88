package mcp

import (
	"encoding/json"
	"testing"
)

func TestNarrowListenChangesNothingElse(t *testing.T) {
	for name, tc := range map[string]struct {
		body, want string
		keep       []string
	}{
		"some": {
			` {"id":1.0, "params" : { "notifications":{ "x" :1, "taskIds" : [ "a","b" ] ,"y":2}, "taskIds":["z"]} } `,
			` {"id":1.0, "params" : { "notifications":{ "x" :1, "taskIds" : ["b"] ,"y":2}, "taskIds":["z"]} } `, []string{"b"},
		},
		"none":             {`{"params":{"notifications":{"taskIds":["a"]}}}`, `{"params":{"notifications":{"taskIds":[]}}}`, nil},
		"escaped names":    {`{"par\u0061ms":{"notifications":{"task\u0049ds":["a"]}}}`, `{"par\u0061ms":{"notifications":{"task\u0049ds":["a"]}}}`, []string{"a"}},
		"a decoy before":   {`{"taskIds":["q"],"params":{"_meta":{"notifications":{"taskIds":["q"]}},"notifications":{"taskIds":["a"]}}}`, `{"taskIds":["q"],"params":{"_meta":{"notifications":{"taskIds":["q"]}},"notifications":{"taskIds":[]}}}`, nil},
		"no such member":   {`{"params":{"notifications":{}}}`, `{"params":{"notifications":{}}}`, nil},
		"no notifications": {`{"params":{}}`, `{"params":{}}`, nil},
		"params an array":  {`{"params":[]}`, `{"params":[]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(NarrowListen([]byte(tc.body), tc.keep)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestWithStatusMessage(t *testing.T) {
	for result, want := range map[string]string{
		`{}`:                                 `{"statusMessage":"a \"b\""}`,
		` { } `:                              ` { "statusMessage":"a \"b\""} `,
		`{"taskId":"{"}`:                     `{"taskId":"{","statusMessage":"a \"b\""}`,
		`{"taskId":"a", "ttl":null }`:        `{"taskId":"a", "ttl":null ,"statusMessage":"a \"b\""}`,
		`{"statusMessage":"x","a":1}`:        `{"statusMessage":"a \"b\"","a":1}`,
		`{"a":{"statusMessage":"x"}}`:        `{"a":{"statusMessage":"x"},"statusMessage":"a \"b\""}`,
		`{"statusMessage":{"x":[1]} ,"a":1}`: `{"statusMessage":"a \"b\"" ,"a":1}`,
	} {
		got := WithStatusMessage([]byte(result), `a "b"`)
		if string(got) != want || !json.Valid(got) {
			t.Errorf("%s became %s, want %s", result, got, want)
		}
	}
}

// The handle of a task, as a poll would have shown it.
func TestPollResultHasTheShapeOfAPoll(t *testing.T) {
	for message, want := range map[string]string{
		`{"id":1,"result":{"resultType":"task","taskId":"a","content":[],"ttlMs":1.0}}`: `{"resultType":"complete","taskId":"a","content":[],"ttlMs":1.0}`,
		`{"id":1,"result":{"_meta":{"task":1},"task":{"taskId":"a", "ttl":null}}}`:      `{"taskId":"a", "ttl":null}`,
		`{"id":1,"result":{"resultType":"complete","taskId":"a","status":"working"}}`:   `{"resultType":"complete","taskId":"a","status":"working"}`,
		`{"id":1,"error":{"code":1}}`: ``,
	} {
		a, err := PeekAnswer([]byte(message), false)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.PollResult(nil); string(got) != want {
			t.Errorf("%s: got %s, want %s", message, got, want)
		}
	}
}

func TestOwnMetaIsReadBackAsAModernCall(t *testing.T) {
	params, err := json.Marshal(map[string]any{"taskId": "a", "_meta": OwnMeta(modern)})
	if err != nil {
		t.Fatal(err)
	}
	msg, refusal := classify(t, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":`+string(params)+`}`, header())
	if refusal != nil {
		t.Fatal(refusal)
	}
	if c := msg.Calls[0]; c.Era != EraModern || c.Version != modern || !c.DeclaresTasks {
		t.Errorf("got %+v", c)
	}
}

func TestAnEndIsToldWhereItIsWholeWithoutAResult(t *testing.T) {
	for result, want := range map[string]string{
		`{"taskId":"t","status":"working","ttl":null}`:                      `{"taskId":"t","status":"cancelled","ttl":null,"statusMessage":"m"}`,
		`{"statusMessage":"old","status":"working"}`:                        `{"statusMessage":"m","status":"cancelled"}`,
		`{"taskId":"t","status":"input_required","inputRequests":{"a":{}}}`: "",
		`{"taskId":"t"}`: "",
	} {
		if got := string(AsEnded([]byte(result), "cancelled", "m")); got != want {
			t.Errorf("%s: got %s, want %s", result, got, want)
		}
	}
}
