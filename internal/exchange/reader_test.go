package exchange

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// drain reads all pieces, shows each to look, and returns their bytes.
func drain(t *testing.T, r *Reader, look func(Piece)) []byte {
	t.Helper()
	var all []byte
	for {
		piece, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("Next: %v", err)
		}
		all = append(all, piece.Raw...)
		if look != nil {
			look(piece)
		}
	}
}

func TestShapeOfAnAnswer(t *testing.T) {
	for _, c := range []struct {
		contentType, encoding string
		want                  Shape
	}{
		{"application/json", "", JSON},
		{"application/json; charset=utf-8", "", JSON},
		{"Application/JSON ; charset", "", JSON}, // the parameter is faulty
		{"application/problem+json", "", JSON},
		{"application/json", "identity", JSON},
		{"application/json", "gzip", Opaque},
		{"text/event-stream", "", EventStream},
		{"text/event-stream;charset=utf-8", "", EventStream},
		{"text/event-stream", "br", Opaque},
		{"text/plain", "", Opaque},
		{"", "", Opaque},
	} {
		response := &wire.Response{Header: new(wire.Header)}
		response.Header.Set("Content-Type", c.contentType)
		if c.encoding != "" {
			response.Header.Set("Content-Encoding", c.encoding)
		}
		if got := ShapeOf(response); got != c.want {
			t.Errorf("%q, %q: got %v, want %v", c.contentType, c.encoding, got, c.want)
		}
	}
}

// Of a JSON answer the beginning is shown once, whole if it fits; the rest goes
// through. No byte is lost or changed, however they come.
func TestJSONIsShownUpToMaxPeek(t *testing.T) {
	whole := bytes.Repeat([]byte("0123456789abcdef"), (2*mcp.MaxPeek)/16)
	for _, size := range []int{1, 2, 4 << 10, mcp.MaxPeek - 1, mcp.MaxPeek, mcp.MaxPeek + 1, 2 * mcp.MaxPeek} {
		for name, slow := range map[string]func(io.Reader) io.Reader{
			"plain":       func(r io.Reader) io.Reader { return r },
			"halves":      iotest.HalfReader,
			"end at once": iotest.DataErrReader,
		} {
			shown := 0
			got := drain(t, NewReader(JSON, slow(bytes.NewReader(whole[:size]))), func(p Piece) {
				if p.Message == nil {
					return
				}
				shown++
				if !bytes.Equal(p.Message, whole[:min(size, mcp.MaxPeek)]) {
					t.Errorf("%d %s: shown %d bytes", size, name, len(p.Message))
				}
				if size < mcp.MaxPeek && p.Cut || size > mcp.MaxPeek && !p.Cut {
					t.Errorf("%d %s: cut %v", size, name, p.Cut)
				}
			})
			if shown != 1 || !bytes.Equal(got, whole[:size]) {
				t.Errorf("%d %s: shown %d times, %d bytes passed on", size, name, shown, len(got))
			}
		}
	}
}

// A reader that asks for more is shown more, of either shape.
func TestALongReaderHoldsMore(t *testing.T) {
	message := strings.Repeat("x", mcp.MaxPeek)
	for _, most := range []int{mcp.MaxPeek / 2, 2 * mcp.MaxPeek} {
		for shape, body := range map[Shape]string{JSON: message, EventStream: "data: " + message + "\n\n"} {
			whole := false
			got := drain(t, NewLongReader(shape, strings.NewReader(body), most), func(p Piece) {
				whole = whole || !p.Cut && string(p.Message) == message
			})
			if want := most > len(message); whole != want || string(got) != body {
				t.Errorf("shape %v, %d bytes: shown whole %v, %d bytes passed on", shape, most, whole, len(got))
			}
		}
	}
}

func TestEmptyBodyHasNoPieces(t *testing.T) {
	for _, shape := range []Shape{Opaque, JSON, EventStream} {
		if got := drain(t, NewReader(shape, strings.NewReader("")), func(Piece) { t.Error("a piece of nothing") }); len(got) != 0 {
			t.Errorf("%v: got %q", shape, got)
		}
	}
}

// What breaks later has gone out in part; the error comes after that part.
func TestErrorComesAfterWhatWasRead(t *testing.T) {
	broken := errors.New("broken")
	for _, shape := range []Shape{Opaque, EventStream} {
		reader := NewReader(shape, io.MultiReader(strings.NewReader("data: {}\n\n"), iotest.ErrReader(broken)))
		if piece, err := reader.Next(); err != nil || string(piece.Raw) != "data: {}\n\n" {
			t.Errorf("%v: got %q, %v", shape, piece.Raw, err)
		}
		if _, err := reader.Next(); !errors.Is(err, broken) {
			t.Errorf("%v: got %v, want the error", shape, err)
		}
	}
	long := strings.Repeat("x", mcp.MaxPeek+1)
	reader := NewReader(JSON, io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken)))
	var got int
	for {
		piece, err := reader.Next()
		if err != nil {
			if !errors.Is(err, broken) || got != len(long) {
				t.Errorf("JSON: got %v after %d bytes, want the error after %d", err, got, len(long))
			}
			return
		}
		got += len(piece.Raw)
	}
}

// last is a reader whose error comes with its last bytes, and once.
type last struct{ err error }

func (l *last) Read(p []byte) (int, error) {
	err := l.err
	l.err = io.EOF
	if err == io.EOF {
		return 0, err
	}
	return copy(p, "{}"), err
}

func TestErrorThatComesWithTheLastBytesIsNotLost(t *testing.T) {
	broken := errors.New("broken")
	reader := NewReader(Opaque, &last{broken})
	if piece, err := reader.Next(); err != nil || string(piece.Raw) != "{}" {
		t.Errorf("got %q, %v", piece.Raw, err)
	}
	if _, err := reader.Next(); err != broken {
		t.Errorf("got %v, want the error", err)
	}
}

func TestEventsAreHandedOutOneByOne(t *testing.T) {
	const stream = "id: 1\ndata:\n\n: comment\n\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata: {}\n\n"
	var messages []string
	pieces := 0
	got := drain(t, NewReader(EventStream, iotest.OneByteReader(strings.NewReader(stream))), func(p Piece) {
		pieces++
		if !p.Between || p.Cut {
			t.Errorf("%q: between %v, cut %v", p.Raw, p.Between, p.Cut)
		}
		if p.Message != nil {
			messages = append(messages, string(p.Message))
		}
	})
	if string(got) != stream {
		t.Errorf("passed on: got %q, want %q", got, stream)
	}
	if len(messages) != 2 || messages[0] != "{\"a\":\n1}" || messages[1] != "{}" || pieces < 4 {
		t.Errorf("messages: got %q in %d pieces", messages, pieces)
	}
}

// One event longer than may be held goes through in pieces, of which the first is
// shown.
func TestLongEventGoesThroughInPieces(t *testing.T) {
	stream := "data: " + strings.Repeat("x", 3*mcp.MaxPeek) + "\n\ndata: {}\n\n"
	shown := 0
	got := drain(t, NewReader(EventStream, strings.NewReader(stream)), func(p Piece) {
		if len(p.Raw) > mcp.MaxPeek {
			t.Errorf("a piece of %d bytes", len(p.Raw))
		}
		if p.Message != nil {
			shown++
		}
	})
	if string(got) != stream || shown != 2 {
		t.Errorf("got %d of %d bytes, %d messages shown, want all and 2", len(got), len(stream), shown)
	}
}
