package sse

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// An event that is there whole is read as one that comes byte by byte, or in two pieces.
func TestAPlainEventIsReadAsAnyOther(t *testing.T) {
	for _, stream := range []string{
		"data: a\n\n", "event: message\ndata: a\n\n", "event: message\r\ndata: a\r\n\r\n", "event: message\ndata: a\r\n\ndata: b\n\n",
		"id: 1\ndata: a\n\n",
	} {
		for i := range len(stream) {
			for _, put := range []string{"", "\n", "\r", "\r\n", " ", ":", "x", "\n\n", "data: ", "event: message\n", "event: other\n", "id: 1\n", "\ufeff"} {
				changed := stream[:i] + put + stream[i+1:] + stream
				whole, err := drain(bytes.NewReader([]byte(changed)))
				bytewise, _ := drain(iotest.OneByteReader(bytes.NewReader([]byte(changed))))
				pieces, _ := drain(io.MultiReader(strings.NewReader(changed[:i]), strings.NewReader(changed[i:])))
				if !slices.Equal(messages(pieces), messages(bytewise)) {
					t.Fatalf("%q became %+v in two pieces at %d, and byte by byte %+v", changed, pieces, i, bytewise)
				}
				if err != io.EOF || raw(whole) != changed || !slices.Equal(messages(whole), messages(bytewise)) {
					t.Fatalf("%q became %+v, %v, and byte by byte %+v", changed, whole, err, bytewise)
				}
			}
		}
	}
}

// What continues an event that was cut is no event of its own, however it begins.
func TestTheRestOfACutEventIsNotPlain(t *testing.T) {
	er := NewReader(io.MultiReader(bytes.NewReader([]byte("data: 0123")), bytes.NewReader([]byte("data: a\n\n\ndata: b\n\n"))), 10)
	var got []event
	for {
		e, err := er.Next()
		if err != nil {
			break
		}
		got = append(got, event{string(e.Raw), string(e.Data), e.Cut, e.Tail, e.Ends})
	}
	want := []event{
		{"data: 0123", "0123", true, false, false}, {"data: a\n\n", "", false, true, true}, {"\n", "", false, false, true}, {"data: b\n\n", "b", false, false, true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAnEventWithoutDataBearsNoMessage(t *testing.T) {
	for _, stream := range []string{"data: \n\n", "event: message\r\ndata: \r\n\r\n"} {
		if e, err := NewReader(strings.NewReader(stream), maxHeld).Next(); err != nil || e.Data != nil || string(e.Raw) != stream {
			t.Errorf("%q became %+v, %v", stream, e, err)
		}
	}
}
