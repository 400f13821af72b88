package mcp

import (
	"bytes"
	"testing"
)

func TestQuestionLeavesOutWhatIsTheRequestsOwn(t *testing.T) {
	const body = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t","_meta":{"v":1,"progressToken":7,"traceparent":"x"}}}`
	question := AppendQuestion(nil, []byte(body))
	for name, other := range map[string]string{
		"another id, token and trace": `{"jsonrpc":"2.0","id":"1","method":"tasks/get","params":{"taskId":"t","_meta":{"v":1,"progressToken":"b","tracestate":"y","baggage":"z"}}}`,
		"blanks between members":      `{"jsonrpc":"2.0", "id":1 ,"method":"tasks/get","params":{"taskId":"t","_meta":{"v": 1}}}`,
	} {
		if got := AppendQuestion(nil, []byte(other)); !bytes.Equal(got, question) {
			t.Errorf("%s: got %q, want %q", name, got, question)
		}
	}
	for name, other := range map[string]string{
		"another task":         `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"u","_meta":{"v":1}}}`,
		"another method":       `{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"t","_meta":{"v":1}}}`,
		"another capability":   `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t","_meta":{"v":2}}}`,
		"one more":             `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t","_meta":{"v":1,"w":1}}}`,
		"another parameter":    `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t","x":1,"_meta":{"v":1}}}`,
		"moved out of _meta":   `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t","v":1,"_meta":{}}}`,
		"a name with a dot":    `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"},"params._meta.v":1}`,
		"no params":            `{"jsonrpc":"2.0","id":1,"method":"tasks/get"}`,
		"params that are none": `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":[]}`,
		"another member":       `{"jsonrpc":"2.0","id":1,"x":1,"method":"tasks/get","params":{"taskId":"t","_meta":{"v":1}}}`,
	} {
		if got := AppendQuestion(nil, []byte(other)); bytes.Equal(got, question) {
			t.Errorf("%s: asks the same", name)
		}
	}
}

func TestAnIDIsReplacedWhereItStands(t *testing.T) {
	const message = `{ "jsonrpc":"2.0", "result":{"id":1,"x":1.0 }, "id" : 12345678901234567890 }`
	if got, want := string(WithID([]byte(message), []byte(`"é"`))), `{ "jsonrpc":"2.0", "result":{"id":1,"x":1.0 }, "id" : "é" }`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
