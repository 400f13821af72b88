package mcp

import (
	"reflect"
	"strings"
	"testing"
)

// What is told of a task is read alike whether it was read before or not, whatever of it has changed, and whoever asks.
func TestAResultIsReadAlikeAgain(t *testing.T) {
	const view = `"taskId":"task-00000001","status":"working","ttlMs":60000,"keepAlive":5`
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{` + view + `,"resultType":"complete"}}`,
		`{"jsonrpc":"2.0","id":1,"result": {"resultType":"task",` + view + `} ,"x":1}`,
		`{"result":{"x":"task-00000001",` + view + `}}`,
	} {
		for i := range len(body) {
			for _, put := range []string{"", `"`, "{", "}", ",", "x", "1", " ", `\`, "é", `"x":1,`, `"isError":true,`, `"taskId":2,`, `"nextCursor":"2",`} {
				changed := body[:i] + put + body[i+1:]
				for _, asked := range []string{"task-00000001", "task-00000002", ""} {
					for _, cut := range []bool{false, true} {
						forget(&results)
						want, wantErr := peekedTo(asked, changed, cut)
						forget(&results)
						_, _ = peekedTo("task-00000001", body, false)
						if got, err := peekedTo(asked, changed, cut); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
							t.Fatalf("%s\ngot %+v, %v\nwant %+v, %v", changed, got, err, want, wantErr)
						}
					}
				}
			}
		}
	}
}

func peekedTo(asked, message string, cut bool) (a Answer, err error) {
	err = a.PeekTo(asked, []byte(message), cut)
	return a, err
}

func TestOnlyWhatIsToldOfATaskIsKept(t *testing.T) {
	forget(&results)
	for name, result := range map[string]string{
		"another task":       `{"taskId":"other","status":"working"}`,
		"a tool's failure":   `{"taskId":"t","status":"working","isError":true}`,
		"a cursor":           `{"taskId":"t","status":"working","nextCursor":"c"}`,
		"a state":            `{"taskId":"t","status":"working","requestState":"s"}`,
		"a version":          `{"taskId":"t","status":"working","protocolVersion":"v"}`,
		"a task within":      `{"taskId":"t","status":"working","task":{"taskId":"u"}}`,
		"what is not ASCII":  `{"taskId":"t","status":"working","statusMessage":"é"}`,
		"what is long":       `{"taskId":"t","status":"working","statusMessage":"` + strings.Repeat("x", maxTold) + `"}`,
		"a faulty result":    `{"taskId":"t","status":"working","ttl":1,"ttl":1}`,
		"an outcome":         `{"taskId":"t","status":"completed","result":{}}`,
		"a result cut short": `{"taskId":"t","status":"working",`,
	} {
		_, _ = peekedTo("t", `{"id":1,"result":`+result+`}`, false)
		for i := range results.places {
			if kept := results.places[i].Load(); kept != nil {
				t.Fatalf("%s: kept %q", name, kept.text)
			}
		}
	}
}
