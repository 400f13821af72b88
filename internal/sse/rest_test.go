package sse

import (
	"io"
	"strings"
	"testing"
)

// A reader that rests between events has no memory meanwhile, and tells the same events, however their bytes come.
func TestReaderRests(t *testing.T) {
	stream := "data: a\n\n" + "id: 1\r\ndata: " + strings.Repeat("b", 3*usualBuffer) + "\r\n\r\n" + "\rdata: c\r\rdata: d"
	want, wantErr := drain(strings.NewReader(stream))
	for step := 1; step < len(stream); step += 1 + step/3 {
		er, rested := NewReader(&steps{stream, step}, maxHeld), 0
		var got []event
		var err error
		for {
			if er.Rest() {
				rested++
				if er.buf != nil {
					t.Fatalf("%d bytes at a time: %d bytes are kept", step, len(er.buf))
				}
			}
			var e Event
			if e, err = er.Next(); err != nil {
				break
			}
			got = append(got, event{string(e.Raw), string(e.Data), e.Cut, e.Tail, e.Ends})
		}
		if raw(got) != stream || err != wantErr || rested == 0 {
			t.Fatalf("%d bytes at a time: got %d bytes of %d, %v, rested %d times", step, len(raw(got)), len(stream), err, rested)
		}
		if step == 1 {
			continue // an LF may be late
		}
		if a, b := strings.Join(messages(got), "|"), strings.Join(messages(want), "|"); a != b {
			t.Fatalf("%d bytes at a time: got messages of %d bytes, want %d", step, len(a), len(b))
		}
	}
}

// What has come in part is kept, and so is the end.
func TestReaderDoesNotRestWithinAnEvent(t *testing.T) {
	er := NewReader(&steps{"data: a\n\ndata: b\n\n", 12}, maxHeld)
	if !er.Rest() {
		t.Error("it has nothing, and does not rest")
	}
	if e, err := er.Next(); string(e.Data) != "a" || err != nil {
		t.Fatalf("got %q, %v", e.Data, err)
	}
	if er.Rest() {
		t.Error("it rests with an event that has come in part")
	}
	if e, err := er.Next(); string(e.Data) != "b" || err != nil {
		t.Fatalf("got %q, %v", e.Data, err)
	}
	if !er.Rest() {
		t.Error("it stands between two events, and does not rest")
	}
	if _, err := er.Next(); err != io.EOF || er.Rest() {
		t.Errorf("at the end: %v, rests on", err)
	}
}

// steps is a text that comes some bytes at a time.
type steps struct {
	text string
	n    int
}

func (s *steps) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.n)], s.text)
	s.text = s.text[n:]
	return n, nil
}
