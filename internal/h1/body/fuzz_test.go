package body

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// net/http takes what is taken here, and takes it for the same bytes.
func FuzzChunks(f *testing.F) {
	for _, text := range wrongs {
		f.Add("1\r\nx\r\n" + text)
	}
	f.Add("5;x=y\r\nhello\r\n0\r\nX: y\r\n\r\n" + after)
	f.Fuzz(func(t *testing.T, text string) {
		src := source(text, false)
		var r Reader
		chunks(&r, src)
		got, err := io.ReadAll(&r)
		if err != nil {
			return
		}
		left, _ := io.ReadAll(src)
		oracle := bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + text))
		response, err := http.ReadResponse(oracle, nil)
		if err != nil {
			t.Fatalf("ReadResponse: %v", err)
		}
		want, err := io.ReadAll(response.Body)
		if err != nil || string(want) != string(got) {
			t.Fatalf("%q: got %q, net/http %q, %v", text, got, want, err)
		}
		if rest, _ := io.ReadAll(oracle); string(rest) != string(left) {
			t.Fatalf("%q: left %q, net/http %q", text, left, rest)
		}
	})
}
