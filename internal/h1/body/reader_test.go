package body

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"berth/internal/h1/grammar"
)

// source is a connection on which text comes, as slow as it is told to.
func source(text string, slow bool) *bufio.Reader {
	var r io.Reader = strings.NewReader(text)
	if slow {
		r = iotest.OneByteReader(r)
	}
	return bufio.NewReader(r)
}

// both runs a test with all there at once and with byte after byte.
func both(t *testing.T, text string, check func(t *testing.T, src *bufio.Reader)) {
	t.Helper()
	for _, slow := range []bool{false, true} {
		t.Run(fmt.Sprintf("%.40q slow %v", text, slow), func(t *testing.T) { check(t, source(text, slow)) })
	}
}

const after = "HTTP/1.1 200 OK"

func TestABodyTakesItsOwnBytesAlone(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		begin      func(r *Reader, src Source)
	}{
		"length":     {"hello", "hello", func(r *Reader, src Source) { r.Length(src, 5) }},
		"no length":  {"", "", func(r *Reader, src Source) { r.Length(src, 0) }},
		"chunks":     {"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world", chunks},
		"no chunk":   {"0\r\n\r\n", "", chunks},
		"odd sizes":  {"00A;x=\"y\";z\r\n0123456789\r\na\r\nabcdefghij\r\n00\r\n\r\n", "0123456789abcdefghij", chunks},
		"trailers":   {"1\r\nx\r\n0\r\nExpires: 0\r\nX-Y:\r\n\r\n", "x", chunks},
		"line feeds": {"3\r\n\r\n\n\r\n0\r\n\r\n", "\r\n\n", chunks},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, c.text+after, func(t *testing.T, src *bufio.Reader) {
				var r Reader
				c.begin(&r, src)
				got, err := io.ReadAll(&r)
				if err != nil || string(got) != c.want || !r.Whole() {
					t.Errorf("got %q, %v, whole %v, want %q", got, err, r.Whole(), c.want)
				}
				if left, _ := io.ReadAll(src); string(left) != after {
					t.Errorf("left: got %q, want %q", left, after)
				}
			})
		})
	}
}

func chunks(r *Reader, src Source) { r.Chunks(src, grammar.Misplaced) }

func TestABodyUpToTheConnectionsEnd(t *testing.T) {
	both(t, "hello", func(t *testing.T, src *bufio.Reader) {
		var r Reader
		r.UntilClose(src)
		if got, err := io.ReadAll(&r); err != nil || string(got) != "hello" || !r.Whole() {
			t.Errorf("got %q, %v, whole %v", got, err, r.Whole())
		}
	})
}

// What ends early ends so wherever it does, after what has arrived.
func TestABodyThatEndsEarly(t *testing.T) {
	const text = "5;x\r\nhello\r\n5\r\nworld\r\n0\r\nX: y\r\n\r\n"
	for end := range len(text) {
		both(t, text[:end], func(t *testing.T, src *bufio.Reader) {
			var r Reader
			chunks(&r, src)
			got, err := io.ReadAll(&r)
			if !errors.Is(err, io.ErrUnexpectedEOF) || r.Whole() || !strings.HasPrefix("helloworld", string(got)) {
				t.Errorf("got %q, %v, whole %v", got, err, r.Whole())
			}
			if _, again := r.Read(make([]byte, 1)); again != err {
				t.Errorf("again: got %v, want %v", again, err)
			}
		})
	}
	for end := range 5 {
		both(t, "hello"[:end], func(t *testing.T, src *bufio.Reader) {
			var r Reader
			r.Length(src, 5)
			got, err := io.ReadAll(&r)
			if !errors.Is(err, io.ErrUnexpectedEOF) || string(got) != "hello"[:end] {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// An error of the connection is told as it is, and is no end.
func TestAConnectionThatBreaks(t *testing.T) {
	broken := errors.New("broken")
	for _, begin := range []func(*Reader, Source){
		chunks, func(r *Reader, src Source) { r.Length(src, 99) }, func(r *Reader, src Source) { r.UntilClose(src) },
	} {
		var r Reader
		begin(&r, bufio.NewReader(io.MultiReader(strings.NewReader("9\r\nx"), iotest.ErrReader(broken))))
		if _, err := io.ReadAll(&r); !errors.Is(err, broken) || r.Whole() {
			t.Errorf("got %v, whole %v", err, r.Whole())
		}
	}
}

// wrongs are what is refused, each after the byte "x" in a chunk of its own.
var wrongs = []string{
	"1\ny\r\n", "1\r\ny\n", "1\r\nyz\r\n", "1\r\ny0\r\n", "1\r\n\r\n\r\n0\r\n\r\n",
	" 1\r\ny\r\n", "1 \r\ny\r\n", "\t1\r\ny\r\n", "+1\r\ny\r\n", "-1\r\ny\r\n", "0x1\r\ny\r\n", "1_0\r\ny\r\n", "g\r\n", "\r\n", ";x\r\n",
	"1\r\r\ny\r\n", "1;\r\r\ny\r\n", "1;\x00\r\ny\r\n", "1,1\r\ny\r\n", "１\r\ny\r\n",
	"0000000000000001\r\ny\r\n", "ffffffffffffffff1\r\ny\r\n", "10000000000000000\r\n",
	"1;" + strings.Repeat("x", maxLine) + "\r\ny\r\n",
	strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\ny\r\n", 17) + "0\r\n\r\n",
	"0\n\n", "0\r\n\n", "0\r\n\r", "0\r\nX\r\n\r\n", "0\r\n X: y\r\n\r\n", "0\r\nX : y\r\n\r\n", "0\r\nX: y\r\n z\r\n\r\n", "0\r\n: y\r\n\r\n",
	"0\r\nX: \x00\r\n\r\n", "0\r\nX: \ry\r\n\r\n", "0\r\nX: y\n\r\n", "0\r\nContent-Length: 1\r\n\r\n", "0\r\nTRANSFER_ENCODING: chunked\r\n\r\n",
	"0\r\nMcp-Session-Id: 1\r\n\r\n", "0\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 5) + "\r\n",
}

func TestChunksThatAreFramedWrongly(t *testing.T) {
	for _, wrong := range wrongs {
		both(t, "1\r\nx\r\n"+wrong, func(t *testing.T, src *bufio.Reader) {
			var r Reader
			chunks(&r, src)
			got, err := io.ReadAll(&r)
			if !errors.Is(err, ErrFraming) && (wrong != "0\r\n\r" || err != io.ErrUnexpectedEOF) || r.Whole() {
				t.Errorf("got %v, whole %v", err, r.Whole())
			}
			if !strings.HasPrefix(string(got), "x") {
				t.Errorf("got %q, want what came before", got)
			}
		})
	}
}

// The length of an answer is the room that its reader has: one that had to ask again for the end
// would need more.
func TestTheEndComesWithTheLastBytes(t *testing.T) {
	for _, text := range []string{"hello", "5\r\nhello\r\n0\r\n\r\n", "2\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n"} {
		var r Reader
		if r.Length(source(text, false), 5); text != "hello" {
			chunks(&r, source(text, false))
		}
		if n, err := r.Read(make([]byte, 5)); n != 5 || err != io.EOF || !r.Whole() {
			t.Errorf("%q: got %d, %v", text, n, err)
		}
	}
}

// An event is handed out before the next one begins.
func TestAChunkIsHandedOutAsItComes(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	go func() { _, _ = io.WriteString(out, "5\r\nhello") }()
	var r Reader
	chunks(&r, bufio.NewReader(in))
	p := make([]byte, 64)
	if n, err := r.Read(p[:0]); n != 0 || err != nil {
		t.Errorf("of nothing: got %d, %v", n, err)
	}
	if n, err := r.Read(p); string(p[:n]) != "hello" || err != nil {
		t.Errorf("got %q, %v", p[:n], err)
	}
	go func() { _, _ = io.WriteString(out, "\r\n5\r\nworld\r\n1") }()
	if n, err := r.Read(p); string(p[:n]) != "world" || err != nil {
		t.Errorf("got %q, %v", p[:n], err)
	}
}

// What stands where a chunk has to end is looked at, also where all of it is there.
func TestAChunkEndsWithALineEnd(t *testing.T) {
	for _, end := range []string{"XX", "\r\r", "\n\n", "\n0"} {
		src := bufio.NewReader(strings.NewReader("1\r\na" + end + "0\r\n\r\n"))
		var r Reader
		chunks(&r, src)
		if _, err := src.Peek(src.Size()); err != io.EOF {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(&r); string(got) != "a" || !errors.Is(err, ErrFraming) {
			t.Errorf("%q: got %q, %v", end, got, err)
		}
	}
}
