package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// maxHeld is how much of an event the readers hold here, in bytes.
const maxHeld = 256 << 10

// event is an Event that outlives the next call of Next.
type event struct {
	raw, data       string
	cut, tail, ends bool
}

// drain reads all events of r and the error that ends them.
func drain(r io.Reader) (events []event, err error) {
	er := NewReader(r, maxHeld)
	for {
		e, err := er.Next()
		if err != nil {
			return events, err
		}
		events = append(events, event{string(e.Raw), string(e.Data), e.Cut, e.Tail, e.Ends})
	}
}

func raw(events []event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(e.raw)
	}
	return b.String()
}

// messages is what the events say: the data of those that have any.
func messages(events []event) []string {
	var data []string
	for _, e := range events {
		if e.data != "" {
			data = append(data, e.data)
		}
	}
	return data
}

func TestReaderReadsData(t *testing.T) {
	for name, tc := range map[string]struct {
		stream string
		want   []string
	}{
		"nothing":                     {"", nil},
		"one event":                   {"data: a\n\n", []string{"a"}},
		"no blank after the colon":    {"data:a\n\n", []string{"a"}},
		"one blank is dropped":        {"data:  a \n\n", []string{" a "}},
		"no colon":                    {"data\n\n", nil},
		"an empty field first":        {"data\ndata: a\n\n", []string{"\na"}},
		"several lines":               {"data: {\ndata: \"a\":1\ndata:}\n\n", []string{"{\n\"a\":1\n}"}},
		"an empty line of data":       {"data: a\ndata:\ndata: b\n\n", []string{"a\n\nb"}},
		"other fields":                {"id: 1\nevent: message\nretry: 10\ndata: a\nfoo: b\n\n", []string{"a"}},
		"fields like it":              {"Data: a\ndatas: b\n data: c\ndata : d\n:data: e\n\n", nil},
		"a priming event":             {"id: 1\ndata:\n\ndata: a\n\n", []string{"a"}},
		"a priming event, retry only": {"retry: 3000\nid: 1\ndata: \n\ndata: a\n\n", []string{"a"}},
		"comments":                    {": hi\n\n:\n\ndata: a\n: in between\ndata: b\n\n", []string{"a\nb"}},
		"empty lines":                 {"\n\n\ndata: a\n\n\n\n", []string{"a"}},
		"an unfinished event":         {"data: a\n\ndata: b\n", []string{"a", "b"}},
		"an unfinished line":          {"data: a\n\ndata: b", []string{"a", "b"}},
		"colons in data":              {"data: a: b\n\n", []string{"a: b"}},
		"a mark in an event":          {"data: a\n\n\ufeffdata: b\n\n", []string{"a"}},
		"two marks":                   {"\ufeff\ufeffdata: a\n\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for ends, replacer := range lineEnds {
				stream := replacer.Replace(tc.stream)
				for how, r := range chunkings(stream) {
					events, err := drain(r)
					if err != io.EOF {
						t.Fatal(err)
					}
					want := tc.want
					if got := messages(events); !slices.Equal(got, want) {
						t.Errorf("%s, %s: got %q, want %q", ends, how, got, want)
					}
					if raw(events) != stream {
						t.Errorf("%s, %s: bytes changed: %q", ends, how, raw(events))
					}
				}
			}
		})
	}
}

var lineEnds = map[string]*strings.Replacer{
	"LF":   strings.NewReplacer(),
	"CRLF": strings.NewReplacer("\n", "\r\n"),
	"CR":   strings.NewReplacer("\n", "\r"),
}

// chunkings are ways for the same bytes to arrive.
func chunkings(stream string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":           strings.NewReader(stream),
		"by the byte":     iotest.OneByteReader(strings.NewReader(stream)),
		"by halves":       iotest.HalfReader(strings.NewReader(stream)),
		"end with data":   iotest.DataErrReader(strings.NewReader(stream)),
		"the end by byte": iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(stream))),
	}
}

func TestReaderDropsAByteOrderMark(t *testing.T) {
	events, _ := drain(strings.NewReader("\ufeffdata: a\n\ndata: b\n\n"))
	if got := messages(events); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
	if !strings.HasPrefix(raw(events), "\ufeff") {
		t.Error("the mark was not passed on")
	}
}

func TestReaderMixesLineEnds(t *testing.T) {
	const stream = "data: a\r\n\ndata: b\n\r\ndata: c\r\rdata: d\n\rdata: e\r\n\r\ndata: f\r\n\r"
	for how, r := range chunkings(stream) {
		events, _ := drain(r)
		if got := messages(events); !slices.Equal(got, []string{"a", "b", "c", "d", "e", "f"}) || raw(events) != stream {
			t.Errorf("%s: got %+v", how, events)
		}
	}
}

// An event is handed out as soon as it is complete, though nothing follows it. A
// reader that waits is a deadlock that synctest reports.
func TestReaderDoesNotWaitForMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, ends := range []string{"\n\n", "\r\r", "\r\n\r\n", "\r\n\r"} {
			from, to := io.Pipe()
			go func() { _, _ = to.Write([]byte("data: a" + ends)) }()
			if e, err := NewReader(from, maxHeld).Next(); err != nil || string(e.Data) != "a" || !e.Ends {
				t.Errorf("%q: got %q, %v", ends, e.Data, err)
			}
			_ = from.Close()
		}
	})
}

func TestReaderIsReadyForWhatIsThere(t *testing.T) {
	from, to := io.Pipe()
	go func() {
		_, _ = to.Write([]byte("data: a\n\ndata: b\r\n\r\ndata: "))
		_, _ = to.Write([]byte("c\n\nda"))
		_ = to.Close()
	}()
	er := NewReader(from, maxHeld)
	if er.Ready() {
		t.Error("ready before anything was read")
	}
	for _, want := range []struct {
		data  string
		ready bool // after it
	}{{"a", true}, {"b", false}, {"c", false}} {
		e, err := er.Next()
		if got := er.Ready(); err != nil || string(e.Data) != want.data || got != want.ready {
			t.Errorf("got %q, %v and ready %v, want %v", e.Data, err, got, want)
		}
	}
	if e, err := er.Next(); err != nil || string(e.Raw) != "da" || !er.Ready() {
		t.Errorf("got %q, %v and ready %v at the end", e.Raw, err, er.Ready())
	}
}

// Text that many returns divide is not searched for a feed after each.
func TestLinesEndAtTheFirstOfBoth(t *testing.T) {
	for _, length := range []int{0, 1, 511, 512, 513, 3000} {
		for _, end := range []string{"", "\n", "\r", "\r\n", "\n\r", "\rx\n", "\nx\r"} {
			if got := lineLength([]byte(strings.Repeat("x", length) + end)); got != length {
				t.Errorf("%d and %q: got %d", length, end, got)
			}
		}
	}
}

// The LF of an event's CRLF came in a segment of its own and was held back until
// the next event began. On a quiet stream the client waited for it: its parser
// takes a CR at the end of what it has for half of a line's end.
func TestALateLFIsHandedOutAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		defer func() { _ = from.Close() }()
		er := NewReader(from, maxHeld)
		next := func(segment string) event {
			t.Helper()
			go func() { _, _ = to.Write([]byte(segment)) }()
			e, err := er.Next()
			if err != nil {
				t.Fatal(err)
			}
			return event{string(e.Raw), string(e.Data), e.Cut, e.Tail, e.Ends}
		}
		for _, want := range []event{
			{raw: "data: a\r\n\r", data: "a", ends: true},
			{raw: "\n", ends: true},
			{raw: "data: b\r\n\r\n", data: "b", ends: true},
			{raw: "data: c\r\r", data: "c", ends: true},
		} {
			if got := next(want.raw); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
	})
}

func TestReaderTellsWhereAStreamStandsBetweenEvents(t *testing.T) {
	events, _ := drain(strings.NewReader(": hi\n\ndata: a\n\ndata: b\n"))
	want := []event{{raw: ": hi\n\n", ends: true}, {raw: "data: a\n\n", data: "a", ends: true}, {raw: "data: b\n", data: "b"}}
	if !slices.Equal(events, want) {
		t.Errorf("got %+v, want %+v", events, want)
	}
}

func TestReaderReportsABrokenStream(t *testing.T) {
	broken := errors.New("broken")
	events, err := drain(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || raw(events) != "data: a\n\ndata: b" {
		t.Errorf("got %+v, %v", events, err)
	}
}

// onceFailing returns its error together with the last bytes, and never again.
type onceFailing struct {
	data []byte
	err  error
}

func (r *onceFailing) Read(p []byte) (n int, err error) {
	n = copy(p, r.data)
	r.data = r.data[n:]
	if len(r.data) > 0 {
		return n, nil
	}
	err, r.err = r.err, io.EOF
	return n, err
}

// A Reader may return an error beside the last bytes; it was dropped, and a cut
// stream looked like one that had ended.
func TestReaderKeepsAnErrorThatComesWithData(t *testing.T) {
	broken := errors.New("broken")
	events, err := drain(&onceFailing{[]byte("data: a\n\ndata: b\n\n"), broken})
	if !errors.Is(err, broken) || len(events) != 2 {
		t.Errorf("got %+v, %v", events, err)
	}
}

func TestLongEventsPassInPieces(t *testing.T) {
	for _, size := range []int{maxHeld - 9, maxHeld - 8, maxHeld - 7, maxHeld, maxHeld + 1, 2 * maxHeld, 10*maxHeld + 3} {
		for ends, replacer := range lineEnds {
			stream := replacer.Replace("data: a\n\ndata: " + strings.Repeat("x", size) + "\n\ndata: b\n\n")
			t.Run(fmt.Sprintf("%d %s", size, ends), func(t *testing.T) {
				events, err := drain(strings.NewReader(stream))
				if err != io.EOF || raw(events) != stream {
					t.Fatalf("bytes changed, or %v", err)
				}
				checkPieces(t, events)
				if got := ended(events); got != 3 {
					t.Errorf("%d events have an end, want 3", got)
				}
				if first, last := events[0], events[len(events)-1]; first.data != "a" || last.data != "b" || last.tail || !last.ends {
					t.Errorf("the neighbours suffered: %+v, %+v", first, last)
				}
			})
		}
	}
}

// checkPieces holds the flags of all pieces against each other.
func checkPieces(t *testing.T, events []event) {
	t.Helper()
	open := false
	for i, e := range events {
		if e.tail != open {
			t.Errorf("piece %d: Tail is %v after an event that was cut: %v", i, e.tail, open)
		}
		if e.cut && (e.tail || e.ends || len(e.raw) < maxHeld) {
			t.Errorf("piece %d: Cut with Tail %v, Ends %v, %d bytes", i, e.tail, e.ends, len(e.raw))
		}
		if e.tail && e.data != "" {
			t.Errorf("piece %d: a tail has data", i)
		}
		open = e.cut || e.tail && !e.ends
	}
}

// ended counts the events that end, a late LF aside.
func ended(events []event) (n int) {
	for _, e := range events {
		if e.ends && (e.tail || e.raw != "\n") {
			n++
		}
	}
	return n
}

// What follows the cut is not held back until there is much of it.
func TestTheRestOfALongEventIsNotHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		defer func() { _ = from.Close() }()
		go func() {
			_, _ = to.Write(bytes.Repeat([]byte("x"), maxHeld))
			_, _ = to.Write([]byte("little"))
		}()
		er := NewReader(from, maxHeld)
		if e, err := er.Next(); err != nil || !e.Cut {
			t.Fatalf("got %d bytes, Cut %v, %v", len(e.Raw), e.Cut, err)
		}
		if e, err := er.Next(); err != nil || string(e.Raw) != "little" || !e.Tail {
			t.Errorf("got %q, Tail %v, %v", e.Raw, e.Tail, err)
		}
	})
}

func TestReaderBoundsItsBuffer(t *testing.T) {
	long := strings.Repeat("x", 3*maxHeld)
	stream := "data: a\n\ndata: " + long + "\n\n" + strings.Repeat("data: b\n\n", 10_000) + "data: " + long[:maxHeld-100] + "\n\n"
	for how, r := range chunkings(stream) {
		er := NewReader(r, maxHeld)
		for {
			_, err := er.Next()
			if cap(er.buf) > maxHeld {
				t.Fatalf("%s: a buffer of %d bytes", how, cap(er.buf))
			}
			if err == io.EOF {
				break
			}
		}
		if cap(er.buf) > 4*usualBuffer {
			t.Errorf("%s: a buffer of %d bytes outlives its event", how, cap(er.buf))
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, stream := range []string{
		"", "data: a\n\n", "id: 1\ndata:\n\ndata: a\n\n", ": c\r\n\r\ndata: a\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r",
		"\ufeffdata: a\n\n", "\ufeff\n\ndata\ndata\n\n", "data: a\r\n\rdata: b\n\r\n\r\n\n", "data", "\r\n\r\n\n\r", "data: a\r\n\n\r\ndata: b",
	} {
		f.Add([]byte(stream), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		whole, err := drain(bytes.NewReader(stream))
		if err != io.EOF || raw(whole) != string(stream) {
			t.Fatalf("%q became %q, %v", stream, raw(whole), err)
		}
		want := referenceEvents(string(stream))
		for how, r := range map[string]io.Reader{
			"whole":  bytes.NewReader(stream),
			"byte":   iotest.OneByteReader(bytes.NewReader(stream)),
			"chunks": &chunked{bytes.NewReader(stream), int(size)%7 + 1},
		} {
			events, err := drain(r)
			if err != io.EOF || raw(events) != string(stream) {
				t.Fatalf("%s: %q became %q, %v", how, stream, raw(events), err)
			}
			if got := messages(events); !slices.Equal(got, want) {
				t.Fatalf("%s: %q says %q, want %q", how, stream, got, want)
			}
		}
	})
}

// chunked reads at most size bytes at once.
type chunked struct {
	r    io.Reader
	size int
}

func (c *chunked) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.size)]) }

// referenceEvents reads a stream as the standard words it: line by line, with a
// data buffer that an empty line dispatches. What is left at the end counts too,
// where the standard drops it: berth looks at it, as a client might.
func referenceEvents(stream string) (events []string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	buffer := ""
	dispatch := func() {
		if data := strings.TrimSuffix(buffer, "\n"); data != "" {
			events = append(events, data)
		}
		buffer = ""
	}
	for line := range strings.SplitSeq(stream, "\n") {
		field, value, _ := strings.Cut(line, ":")
		switch {
		case line == "":
			dispatch()
		case field == "data":
			buffer += strings.TrimPrefix(value, " ") + "\n"
		}
	}
	dispatch()
	return events
}
