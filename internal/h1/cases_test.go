package h1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// requestCase is what one client sends over one connection, and what must come of it.
type requestCase struct {
	name   string
	raw    string
	status string // of the answers
	seen   string // the requests that a handler saw whole: method, target and body
	source string // where the trick was published; "": nowhere, or everywhere
}

// requestCases are all of them. Behind each request that is refused stands one more, which nobody may see.
func requestCases() []requestCase {
	return slices.Concat(clean(), lineCases(), lengthCases(), codingCases(), fieldCases(), chunkCases(), trailerCases(), hostCases(), pathCases(), expectCases())
}

// get is a request that must work wherever it is reached.
const get = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

// post is a POST with fields and a body. Fields are in lines, of which "\n" ends one in a proper way.
func post(fields, body string) string {
	return strings.ReplaceAll("POST /mcp HTTP/1.1\nHost: a\n"+fields+"\n", "\n", "\r\n") + body
}

// head is a POST that its fields make doubtful: with chunks, were they to count.
func head(source, name, fields string) requestCase {
	return requestCase{name, post(fields, "0\r\n\r\n") + get, "400", "", source}
}

// rawHead is head for fields whose line ends are written out.
func rawHead(source, name, fields string) requestCase {
	return requestCase{name, "POST /mcp HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n0\r\n\r\n" + get, "400", "", source}
}

// line is a request whose first line is refused.
func line(source, name, first string) requestCase {
	return requestCase{name, first + "\r\nHost: a\r\n\r\n" + get, "400", "", source}
}

const chunked = "Transfer-Encoding: chunked\n"

// chunk is a request whose body is refused while a handler reads it.
func chunk(source, name, body string) requestCase {
	return requestCase{name, post(chunked, body) + get, "400", "", source}
}

// A case comes out the same however its bytes come. Behind net/http the table is the same but for what differences
// names, so that rows are not wrong alone.
func TestRequestsThatCouldMeanTwoThings(t *testing.T) {
	for _, f := range []front{ours, netHTTP} {
		for _, c := range requestCases() {
			for _, n := range []int{0, 1, 2, 3, 7} {
				if f.name == netHTTP.name && (n > 0 || differences[c.name] != "") {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/in pieces of %d", f.name, strings.ReplaceAll(c.name, "/", "_"), n), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { c.check(t, play(t, f, inPieces(c.raw, n))) })
				})
			}
		}
	}
}

func (c requestCase) check(t *testing.T, o outcome) {
	t.Helper()
	if got := o.whole(); got != c.seen {
		t.Errorf("%q: handlers saw %q, want %q", c.raw, got, c.seen)
	}
	if got := o.statuses(); got != c.status || o.rest != "" {
		t.Errorf("%q: answers %q, then %q, want %q", c.raw, got, o.rest, c.status)
	}
	if o.refused() && o.stays {
		t.Errorf("%q: the connection stays", c.raw)
	}
}
