package jsonscan

import (
	"strings"
	"testing"
)

// A known name is told from those that begin or end as it does, whatever stands before and behind it.
func TestAKnownNameIsToldByItsNumber(t *testing.T) {
	names := []string{"id", "uri", "name", "task", "taskId", "taskIds", "asks", "status", "statusMessage", "stat", "protocol/version", "protocol/a/longer/one",
		"protocol/a/longer/two", "protocol/a/langer/one", "i", "", "idx", "statusMessages"}
	for _, name := range names {
		want := usual.Of([]byte(name))
		for _, text := range []string{`{"%":1}`, `{"x":2,"%":1}`, `{"%":1        }`, `{"x":2,"%":"some more text"}`} {
			s := New([]byte(strings.Replace(text, "%", name, 1)))
			s.Open('{')
			number, ok := s.Member(&usual)
			if string(s.Named()) == `"x"` {
				s.Value()
				number, ok = s.Member(&usual)
			}
			long := len(s.Text())-s.At() > 8 // so that all of it can be looked at by words
			if !ok || number != want && (long || number != 0) || string(s.Named()) != `"`+name+`"` {
				t.Errorf("%s: number %d, want %d, %s", s.Text(), number, want, s.Named())
			}
			s.Value()
			if _, more := s.Name(); more || !s.End() {
				t.Errorf("%s: %v", s.Text(), s.Err())
			}
		}
	}
	for i, name := range []string{"id", "uri", "name", "task", "taskId"} {
		if usual.Of([]byte(name)) != uint64(i+1) {
			t.Errorf("%s is number %d", name, usual.Of([]byte(name)))
		}
	}
}
