package mcp

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// A notification is read alike whether one like it was read before or not, whatever of it has changed.
func TestANoticeIsReadAlikeAgain(t *testing.T) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"at":1,"taskId":"x"}}}`,
		`{"method":"notifications/progress","params":{"progressToken":"p","progress":1.5,"_meta":{"id":1}},"jsonrpc":"2.0"} `,
	} {
		for i := range len(body) {
			for _, put := range []string{
				"", `"`, "{", "}", ",", "x", "1", " ", `\`, `\u0041`, "é", `"x":1,`, "null", `"taskId":"t",`, `"id":2,`, `"id":2,"id":2,`, `"result":{},`, `"error":{},`, `"method":"m",`, "[[",
			} {
				changed := body[:i] + put + body[i+1:]
				for _, cut := range []bool{false, true} {
					forgetForms()
					want, wantErr := PeekAnswer([]byte(changed), cut)
					forgetForms()
					_, _ = PeekAnswer([]byte(body), false)
					if got, err := PeekAnswer([]byte(changed), cut); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
						t.Fatalf("%s\ngot %+v, %v\nwant %+v, %v", changed, got, err, want, wantErr)
					}
				}
			}
		}
	}
}

// Of a notification is kept how it is written, and nothing that it says.
func TestNothingThatANoticeSaysIsKept(t *testing.T) {
	forgetForms()
	for _, said := range []string{`"secret"`, `{"a":"secret"}`, `["secret"]`, "1"} {
		a, err := PeekAnswer([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":`+said+`,"data":`+said+`}}`), false)
		if err != nil || !reflect.DeepEqual(a, Answer{Method: "notifications/message"}) {
			t.Errorf("got %+v, %v", a, err)
		}
		if kept := keptIn(&noticeForms); len(kept) != 1 || strings.Contains(fmt.Sprintf("%+v", kept[0]), "secret") {
			t.Fatalf("kept %+v", kept)
		}
	}
}

func TestOnlyWhatMostNoticesHaveIsKept(t *testing.T) {
	const before = `{"jsonrpc":"2.0","method":"notifications/`
	for name, message := range map[string]string{
		"a task's":          before + `tasks/status","params":{"taskId":"t","status":"working"}}`,
		"a request":         before + `x","id":1,"params":{"a":1}}`,
		"an unknown member": before + `x","x":1,"params":{"a":1}}`,
		"a result beside":   before + `x","result":{},"params":{"a":1}}`,
		"no params":         before + `x"}`,
		"empty ones":        before + `x","params":{}}`,
		"what is cut short": before + `x","params":{"a":1`,
		"more that differs": before + `x","params":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}}`,
		"what is not ASCII": before + `é","params":{"a":1}}`,
		"another method":    `{"jsonrpc":"2.0","method":"sampling/createMessage","params":{"a":1}}`,
	} {
		forgetForms()
		_, _ = PeekAnswer([]byte(message), false)
		if kept := keptIn(&noticeForms); len(kept) > 0 {
			t.Errorf("%s: kept %+v", name, kept)
		}
	}
}
