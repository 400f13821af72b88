package verbs

import (
	"errors"
	"testing"
)

const asked = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestARequestIsReadAsItIsShown(t *testing.T) {
	for name, text := range map[string]string{
		"on the wire":  "POST /mcp?x=1 HTTP/1.1\r\nHost: h\r\nAccept: a\r\nAccept: b\r\n\r\n" + asked + "\n",
		"by curl -v":   "*   Trying 127.0.0.1:80...\n> POST /mcp?x=1 HTTP/1.1\n> Host: h\n> accept: a\n> Accept: b\n> \n} [10 bytes data]\n< HTTP/1.1 200 OK\n< Content-Type: application/json\n< \n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n" + asked,
		"with its url": "POST http://h/mcp?x=1 HTTP/2\nHost: h\nAccept: a, b\n\n" + asked,
	} {
		q, err := parseQuestion(text)
		if err != nil || q.Method != "POST" || q.Path != "/mcp?x=1" || q.Headers["Host"] != "h" || q.Headers["Accept"] != "a, b" || q.Body != asked {
			t.Errorf("%s: got %+v, %v", name, q, err)
		}
	}
	if q, err := parseQuestion("\n " + asked); err != nil || q.Body != asked || q.Method != "" {
		t.Errorf("a message alone: got %+v, %v", q, err)
	}
	for text, want := range map[string]error{"": errNoRequest, "hello": errNoRequest, "GET /": errNoRequest, "> POST /mcp HTTP/1.1\n> \n": errNoBody} {
		if _, err := parseQuestion(text); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
	}
}
