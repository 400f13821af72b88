package legacyface

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/mcp"
	"berth/internal/sse"
)

// A stream is bounded in messages and in bytes, but for the last message.
func TestWhatAStreamKeeps(t *testing.T) {
	for name, c := range map[string]struct {
		number, message, count, want int
	}{
		"many":             {1, 1, 2 * maxKept, maxKept},
		"large":            {1, maxKeptBytes / 8, 20, 7},
		"too large":        {1, maxKeptBytes + 1, 3, 1},
		"while none reads": {standing, maxUnheard / 4, 20, 3},
	} {
		s := &stream{number: c.number}
		for range c.count {
			s.add(make([]byte, c.message))
		}
		if events, size := s.kept(); events != c.want || size > max(maxKeptBytes, c.message+100) {
			t.Errorf("%s: keeps %d events, %d bytes", name, events, size)
		}
		if _, err := s.read(t.Context(), 0, func() {}); !errors.Is(err, errGone) {
			t.Errorf("%s: what is not kept is read: %v", name, err)
		}
	}
}

// Who reads too slowly is cut off, and holds up nobody.
func TestAReaderThatFallsBehind(t *testing.T) {
	s := &stream{}
	body, err := s.read(t.Context(), fresh, func() {})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * maxKept {
		s.add([]byte("{}"))
	}
	if _, err := io.ReadAll(body); !errors.Is(err, errBehind) {
		t.Errorf("got %v", err)
	}
	if s.isRead() {
		t.Error("it still reads")
	}
}

// Messages may hold line ends: they come out as one event.
func TestAMessageOfSeveralLines(t *testing.T) {
	s := &stream{number: 4}
	s.add([]byte("{\r\n \"a\":\n1}"))
	s.end()
	body, err := s.read(t.Context(), fresh, func() {})
	if err != nil {
		t.Fatal(err)
	}
	event, err := sse.NewReader(body, mcp.MaxPeek).Next()
	if err != nil || string(event.Data) != "{ \n \"a\":\n1}" || event.ID() != "4-0" || strings.Contains(string(event.Raw), "\r") {
		t.Errorf("got %q, %v", event.Raw, err)
	}
}

func TestAReaderCanBeClosedWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, left := &stream{}, 0
		body, err := s.read(t.Context(), fresh, func() { left++ })
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := body.Read(make([]byte, 1))
			done <- err
		}()
		synctest.Wait()
		body.Close()
		body.Close()
		if err := <-done; !errors.Is(err, io.ErrClosedPipe) || left != 1 {
			t.Errorf("got %v, left %d times", err, left)
		}
	})
}

func TestOnlyEventIDsOfItsOwnAreTaken(t *testing.T) {
	if number, sequence, ok := parseEventID(eventID(3, 17)); !ok || number != 3 || sequence != 17 {
		t.Errorf("got %d, %d, %v", number, sequence, ok)
	}
	for _, id := range []string{"", "3", "3-", "-3", "3--1", "-1-3", "+3-1", "03-1", "3-1 ", "a-b", strconv.Itoa(1<<62) + "0-1"} {
		if _, _, ok := parseEventID(id); ok {
			t.Errorf("%q is taken", id)
		}
	}
}
