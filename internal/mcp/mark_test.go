package mcp

import "testing"

// A byte order mark, which some servers begin their bodies with, is no part of the message.
func TestMessagesAfterAByteOrderMark(t *testing.T) {
	const mark, object = "\ufeff", `{"code":-32021,"message":"m","data":{"requiredCapabilities":{"extensions":{"` + TasksExtension + `":{}}}}}`
	failure, result := []byte(mark+`{"jsonrpc":"2.0","id":1,"error":`+object+`}`), []byte(mark+`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`)
	if got := string(ErrorObject(failure)); got != object {
		t.Errorf("the error is %s", got)
	}
	if got := string(ResultObject(result)); got != `{"a":1}` {
		t.Errorf("the result is %s", got)
	}
	if got := string(WithID(result, []byte("2"))); got != `{"jsonrpc":"2.0","id":2,"result":{"a":1}}` {
		t.Errorf("under another id: %s", got)
	}
	if !DemandsTasks(failure) {
		t.Error("the error does not demand tasks")
	}
	if a, err := PeekAnswer(failure, false); err != nil || !a.IsError {
		t.Errorf("read as %+v, %v", a, err)
	}
}
