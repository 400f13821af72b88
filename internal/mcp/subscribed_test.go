package mcp

import (
	"berth/internal/mcp/listen"
	"testing"
)

func TestGrantsOfAFilter(t *testing.T) {
	for _, c := range []struct {
		filter, message string
		want            bool
	}{
		{`{"toolsListChanged":true}`, `{"method":"notifications/tools/list_changed"}`, true},
		{`{"toolsListChanged":false}`, `{"method":"notifications/tools/list_changed"}`, false},
		{`{"promptsListChanged":true}`, `{"method":"notifications/tools/list_changed"}`, false},
		{`{"promptsListChanged":true}`, `{"method":"notifications/prompts/list_changed"}`, true},
		{`{"resourcesListChanged":true}`, `{"method":"notifications/resources/list_changed"}`, true},
		{`{"resourcesListChanged":true}`, `{"method":"notifications/resources/updated","params":{"uri":"a:b"}}`, false},
		{`{"resourceSubscriptions":["a:b"]}`, `{"method":"notifications/resources/updated","params":{"uri":"a:b"}}`, true},
		{`{"resourceSubscriptions":["a:b"]}`, `{"method":"notifications/resources/updated","params":{"uri":"a:b/c"}}`, true},
		{`{"resourceSubscriptions":["a:b"]}`, `{"method":"notifications/resources/updated","params":{"uri":"a:b#c"}}`, true},
		{`{"resourceSubscriptions":["a:b/"]}`, `{"method":"notifications/resources/updated","params":{"uri":"a:b/c"}}`, true},
		{`{"resourceSubscriptions":["a:b"]}`, `{"method":"notifications/resources/updated","params":{"uri":"a:bc"}}`, false},
		{`{"resourceSubscriptions":["a:b"]}`, `{"method":"notifications/resources/updated","params":{}}`, false},
		{`{"resourceSubscriptions":[]}`, `{"method":"notifications/resources/updated","params":{"uri":""}}`, false},
		{`{"taskIds":["t"]}`, `{"method":"notifications/tasks","params":{"taskId":"t"}}`, true},
		{`{"taskIds":["t"]}`, `{"method":"notifications/tasks","params":{"taskId":"u"}}`, false},
		{`{"taskIds":["t"]}`, `{"method":"notifications/tasks","params":{}}`, false},
		{`{"taskIds":["t"]}`, `{"method":"notifications/message","params":{}}`, false},
		{`{"taskIds":["t"],"x/events":{"of":1}}`, `{"method":"notifications/x/event","params":{}}`, true},
		{`{"taskIds":["t"],"x/events":false}`, `{"method":"notifications/x/event","params":{}}`, false},
		{`{"x/events":true}`, `{"method":"notifications/tools/list_changed"}`, false},
	} {
		filter, err := listen.Parse([]byte(c.filter))
		if err != nil {
			t.Fatal(err)
		}
		s, err := PeekSubscribed([]byte(c.message), false)
		if got := filter.Grants(s.Method, s.URI, s.Task.ID); got != c.want || err != nil {
			t.Errorf("%s of %s: got %v, %v, want %v", c.message, c.filter, got, err, c.want)
		}
	}
}

// What readers may understand differently is none of a subscription's.
func TestSubscriptionIDThatStandsTwice(t *testing.T) {
	for _, message := range []string{
		`{"method":"a","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/subscriptionId":2}}}`,
		`{"method":"a","params":{"_meta":{},"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}`,
		`{"method":"a","params":{"uri":"a","uri":"b"}}`,
	} {
		if s, err := PeekSubscribed([]byte(message), false); err == nil {
			t.Errorf("%s: read %+v", message, s)
		}
	}
	s, err := PeekSubscribed([]byte(`{"method":"a","params":{"_meta":{"io.modelcontextprotocol/subscriptionId": "x"},"y":"cut o`), true)
	if err != nil || string(s.Subscription) != `"x"` {
		t.Errorf("read %+v, %v", s, err)
	}
}
