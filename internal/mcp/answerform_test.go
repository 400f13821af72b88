package mcp

import (
	"berth/internal/recall"
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const usualView = `"taskId":"task-00000001","status":"working","statusMessage":"half","createdAt":"2026-07-28T10:30:00Z",` +
	`"lastUpdatedAt":"2026-07-28T10:40:00Z","ttlMs":60000,"keepAlive":5,"pollIntervalMs":1000`

// An answer that few servers give is read alike each time, whatever stands in it where.
func TestAnOddAnswerIsReadAlikeEachTime(t *testing.T) {
	const before = `{"jsonrpc":"2.0","id":1,`
	for _, messages := range [][2]string{
		{`"taskId":"x","result":{"content":[]}}`},
		{`"taskId":"x","result":{"taskId":"task-00000001","status":"working"}}`},
		{`"result":{"task":{"taskId":"y"}},"taskId":"x"}`},
		{`"result":{"task":{"taskId":"y"}}}`},
		{`"result":{` + usualView + `,"task":{"taskId":"x"}}}`},
		{`"result":{"taskId":"x"}}`, `"result":{"taskId":2}}`},
		{`"result":{"taskId":"x"}}`, `"result":{"taskId":"\u0041"}}`},
		{`"result":{"taskId":"x","_meta":{"taskId":"y"}}}`, `"result":{"taskId":"x","_meta":2}}`},
		{`"result":{"taskId":"x"}}`, `"result":{"taskId":"x"}}x`},
	} {
		for _, asked := range []string{"task-00000001", ""} {
			forgetForms()
			for _, message := range []string{messages[0], messages[0], cmp.Or(messages[1], messages[0])} {
				got, err := peekedTo(asked, before+message, false)
				forms := answerForms.Places
				forgetForms()
				if want, wantErr := peekedTo(asked, before+message, false); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
					t.Errorf("%s\ngot %+v, %v\nwant %+v, %v", message, got, err, want, wantErr)
				}
				answerForms.Places = forms
			}
		}
	}
}

func peekedTo(asked, message string, cut bool) (a Answer, err error) {
	err = a.PeekTo(asked, []byte(message), cut)
	return a, err
}

// What an answer says of its task is read of each.
func TestWhatAFormLeavesOpenIsReadOfEachAnswer(t *testing.T) {
	forgetForms()
	for i := range 3 {
		task, id := fmt.Sprintf("task-%08d", i), fmt.Sprint(i)
		message := `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"task",` + strings.Replace(usualView, "task-00000001", task, 1) + `}}`
		a, err := peekedTo("", message, false)
		if err != nil || string(a.ID) != id || a.Task.ID != task || a.Dialect != DialectExtension || string(a.Result) != message[strings.Index(message, `{"resultType"`):len(message)-1] {
			t.Errorf("got %+v, %v", a, err)
		}
		if kept := keptIn(&answerForms); len(kept) != 1 || strings.Contains(fmt.Sprintf("%+v", kept), "task-") {
			t.Fatalf("kept %+v", kept)
		}
	}
}

// What is kept of an answer is nothing that it says to one client alone, and not large.
func TestOnlyWhatMostAnswersHaveIsKept(t *testing.T) {
	const before = `{"jsonrpc":"2.0","id":1,"result":`
	for name, rest := range map[string]string{
		"a cursor":           `{"taskId":"t","nextCursor":"c"}}`,
		"a state":            `{"taskId":"t","requestState":"s"}}`,
		"a version":          `{"protocolVersion":"v"}}`,
		"an outcome":         `{"taskId":"t","status":"completed","result":{}}}`,
		"an unknown member":  `{"taskId":"t","x":1}}`,
		"one beside":         `{"taskId":"t"},"x":1}`,
		"an error beside":    `{"taskId":"t"},"error":null}`,
		"a request":          `{"taskId":"t"},"method":"m"}`,
		"what is not ASCII":  `{"taskId":"t","status":"é"}}`,
		"what is long":       `{"taskId":"t","status":"` + strings.Repeat("x", recall.MaxForm) + `"}}`,
		"a faulty result":    `{"taskId":"t","ttl":1,"ttl":1}}`,
		"no object":          `1}`,
		"a result cut short": `{"taskId":"t",`,
		"more that differs":  `{"taskId":"t","statusMessage":"m","createdAt":"c","lastUpdatedAt":"u","content":[],"structuredContent":{}}}`,
		"a task beside":      `{"content":[]},"taskId":"x"}`,
	} {
		forgetForms()
		_, _ = peekedTo("t", before+rest, false)
		if kept := keptIn(&answerForms); len(kept) > 0 {
			t.Errorf("%s: kept %+v", name, kept)
		}
	}
}
