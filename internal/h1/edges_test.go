package h1_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// bodied are messages' ends: field lines, and the body that follows.
var bodied = []struct{ name, fields, body, text string }{
	{"length", "Content-Length: 11\r\n", "hello world", "hello world"},
	{"one chunk", "Transfer-Encoding: chunked\r\n", "b\r\nhello world\r\n0\r\n\r\n", "hello world"},
	{"chunks", "Transfer-Encoding: chunked\r\n", "1\r\nh\r\n5;x=\"y\"\r\nello \r\n05\r\nworld\r\n0;z\r\nX: 1\r\nY: 2\r\n\r\n", "hello world"},
	{"line ends as data", "Transfer-Encoding: chunked\r\n", "5\r\n\r\n0\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n\r\n"},
	{"nothing", "Content-Length: 0\r\n", "", ""},
	{"no chunk", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", ""},
}

// Where a message is cut in two, and where in three, changes nothing of what it means.
func TestARequestIsTheSameWhereverItIsCut(t *testing.T) {
	for _, b := range bodied {
		raw := "POST /mcp HTTP/1.1\r\nHost: a\r\n" + b.fields + "\r\n" + b.body + get
		want := "POST /mcp " + b.text + "|GET /next "
		for first := 1; first < len(raw); first++ {
			synctest.Test(t, func(t *testing.T) {
				for _, second := range []int{0, 1, 2} {
					pieces := [][]byte{[]byte(raw[:first])}
					if rest := raw[first:]; second > 0 && second < len(rest) {
						pieces = append(pieces, []byte(rest[:second]), []byte(rest[second:]))
					} else {
						pieces = append(pieces, []byte(rest))
					}
					o := play(t, ours, pieces)
					if o.whole() != want || o.statuses() != "200 200" || o.rest != "" || !o.stays {
						t.Errorf("%s, cut at %d and %d: saw %q, answers %q, then %q, stays %v", b.name, first, first+second, o.whole(), o.statuses(), o.rest, o.stays)
					}
				}
			})
		}
	}
}

func TestAnAnswerIsTheSameWhereverItIsCut(t *testing.T) {
	for _, b := range bodied {
		raw := ok + b.fields + "\r\n" + b.body
		for first := 1; first < len(raw); first++ {
			synctest.Test(t, func(t *testing.T) {
				e := ask(t, mine, "POST", [][]byte{[]byte(raw[:first]), []byte(raw[first:])}, false)
				if got := e.brief(); got != "200 "+b.text || e.again != "kept" {
					t.Errorf("%s, cut at %d: got %q, %s", b.name, first, got, e.again)
				}
			})
		}
	}
}

// Whatever ends a message early, nothing that is cut is taken for whole.
func TestWhatEndsEarlyIsNotWhole(t *testing.T) {
	for _, b := range bodied {
		request, answered := "POST /mcp HTTP/1.1\r\nHost: a\r\n"+b.fields+"\r\n"+b.body, ok+b.fields+"\r\n"+b.body
		for n := range len(request) {
			synctest.Test(t, func(t *testing.T) {
				if o := play(t, ours, inPieces(request[:n], 0)); o.whole() != "" || o.rest != "" {
					t.Errorf("%s: of %q a handler saw %q whole, answers %q, then %q", b.name, request[:n], o.whole(), o.statuses(), o.rest)
				}
			})
		}
		for n := range len(answered) {
			synctest.Test(t, func(t *testing.T) {
				if e := ask(t, mine, "POST", inPieces(answered[:n], 0), true); e.failure == "" && e.whole || e.again != "new" || e.failure != "" && e.failure != errBroken {
					t.Errorf("%s: %q was taken for %v", b.name, answered[:n], e)
				}
			})
		}
	}
}

// edges are sizes that buffers may have.
var edges = []int{512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10}

// padded is raw with its mark replaced by as many bytes as make what stands before end as long as size.
func padded(before, after string, size int) (string, bool) {
	const line = "X-Pad: \r\n"
	room := size - len(before) - len(line)
	if room < 0 {
		return "", false
	}
	return before + "X-Pad: " + strings.Repeat("p", room) + "\r\n" + after, true
}

// Heads, bodies and lines of chunks that end right before, at and behind the edge of a buffer.
func TestMessagesAtTheEdgesOfBuffers(t *testing.T) {
	for _, edge := range edges {
		for off := -3; off <= 3; off++ {
			size := edge + off
			t.Run(fmt.Sprint(size), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { atEdge(t, size) }) })
		}
	}
}

func atEdge(t *testing.T, size int) {
	text := strings.Repeat("0123456789abcdef", size/16+1)[:size]
	for _, m := range []struct{ name, fields, body, text string }{
		{"body", fmt.Sprintf("Content-Length: %d\r\n", size), text, text},
		{"chunk", "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, text), text},
		{"chunks of a byte", "Transfer-Encoding: chunked\r\n", strings.Repeat("1\r\nx\r\n", min(size, 2000)) + "0\r\n\r\n", strings.Repeat("x", min(size, 2000))},
	} {
		raw := "POST /mcp HTTP/1.1\r\nHost: a\r\n" + m.fields + "\r\n" + m.body + get
		if o := play(t, ours, inPieces(raw, 0)); o.whole() != "POST /mcp "+m.text+"|GET /next " || o.rest != "" {
			t.Errorf("%s of %d: saw %.100q, answers %s", m.name, size, o.whole(), o.statuses())
		}
		if e := ask(t, mine, "GET", inPieces(ok+m.fields+"\r\n"+m.body, 0), false); e.brief() != "200 "+m.text || e.again != "kept" {
			t.Errorf("answer, %s of %d: got %.100q, %s", m.name, size, e.brief(), e.again)
		}
	}
	if raw, fits := padded("POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n", "\r\n", size-2); fits && size <= maxHead {
		for _, n := range []int{0, size - 1, size, size + 1} {
			if o := play(t, ours, inPieces(raw+"hi"+get, n)); o.whole() != "POST /mcp hi|GET /next " {
				t.Errorf("head of %d in pieces of %d: saw %q, answers %s", size, n, o.whole(), o.statuses())
			}
		}
	}
	if raw, fits := padded(ok+"Content-Length: 2\r\n", "\r\nhi", size-2); fits {
		if e := ask(t, mine, "GET", inPieces(raw, 0), false); e.brief() != "200 hi" || e.again != "kept" {
			t.Errorf("answer with a head of %d: got %.100q, %s", size, e.brief(), e.again)
		}
	}
}

// A head may be as long as the limit, and is refused by 431 with the next byte, in one line or in many; what stands
// before it is none of it.
func TestTheLimitIsOfEachHead(t *testing.T) {
	for _, c := range []struct {
		name, raw, want string
	}{
		{"as long as the limit", mustPad(maxHead), "200 200"},
		{"a byte more", mustPad(maxHead + 1), "200 431"},
		{"many lines", "GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("A: b\r\n", maxHead/6+1) + "\r\n", "200 431"},
		{"one line", "GET /" + strings.Repeat("b", 2<<20), "200 431"},
		{"as long as the limit, twice", mustPad(maxHead) + mustPad(maxHead), "200 200 200"},
	} {
		for _, n := range []int{0, 1000} {
			synctest.Test(t, func(t *testing.T) {
				if o := play(t, ours, inPieces(get+c.raw, n)); o.statuses() != c.want {
					t.Errorf("%s in pieces of %d: answers %q, want %q", c.name, n, o.statuses(), c.want)
				}
			})
		}
	}
}

func mustPad(size int) string {
	raw, _ := padded("GET / HTTP/1.1\r\nHost: a\r\n", "\r\n", size-2)
	return raw
}
