package sse

import (
	"strings"
	"testing"
)

func TestWithDataChangesNothingElse(t *testing.T) {
	for name, c := range map[string]struct{ raw, data, want string }{
		"one line":       {": hi\nid:7\ndata:{}\n\n", `{"a":1}`, ": hi\nid:7\ndata:{\"a\":1}\n\n"},
		"a blank inside": {"data: {}\n\n", ` {"a":1}`, "data:  {\"a\":1}\n\n"},
		"one at the top": {"data:{}\n\n", ` {"a":1}`, "data:  {\"a\":1}\n\n"},
		"several, CRLF":  {"data: {\r\nevent: message\r\ndata: }\r\n\r\n", "{\n}", "data: {\r\ndata: }\r\nevent: message\r\n\r\n"},
		"no data":        {"id: 7\n\n", `{}`, "id: 7\n\n"},
		"an empty one":   {"data\n\n", `{}`, "data: {}\n\n"},
		"something like": {"database: x\n\n", `{}`, "database: x\n\n"},
		"a mark before":  {"\ufeffdata: {}\n\n", `{"a":1}`, "data: {\"a\":1}\n\n"},
	} {
		if got := string(WithData([]byte(c.raw), []byte(c.data))); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A byte order mark hides no field of the event that begins a stream, and is part of a name elsewhere.
func TestAMarkHidesNoID(t *testing.T) {
	r := NewReader(strings.NewReader("\ufeffid: 7\ndata: {}\n\n\ufeffid: 8\ndata: {}\n\nid: 9\ndata: {}\n\n"), 100)
	for _, want := range []string{"7", "", "9"} {
		event, err := r.Next()
		if got := event.ID(); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	const raw = "\ufeffid: 7\ndata: {}\n\n"
	if got := string(WithTag([]byte(raw), nil, "a.")); got != "id: a.7\ndata: {}\n\n" {
		t.Errorf("tagged it is %q", got)
	}
	if got := string(WithoutID([]byte(raw))); got != "data: {}\n\n" {
		t.Errorf("without its id it is %q", got)
	}
}

// Events of another type bear no messages, and are there for those who know the type.
func TestDataOfAnotherType(t *testing.T) {
	for raw, want := range map[string]string{
		"event: endpoint\ndata: /messages?id=1\n\n":    "/messages?id=1",
		"\ufeffevent: endpoint\ndata: /a\n\n":          "/a",
		"data: /a\ndata: b\nevent:endpoint\n\n":        "/a\nb",
		"event: message\ndata: {}\n\n":                 "",
		"event: message\nevent: endpoint\ndata: x\n\n": "x",
		"data: x\n\n":         "",
		"event: endpoint\n\n": "",
	} {
		event, err := NewReader(strings.NewReader(raw), maxHeld).Next()
		if got := event.DataOf("endpoint"); err != nil || string(got) != want || want != "" && event.Data != nil {
			t.Errorf("%q: got %q, message %q, %v", raw, got, event.Data, err)
		}
	}
}
