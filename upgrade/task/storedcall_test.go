package task

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// The last version has headers as maps of lists, and reads and writes calls by encoding/json.
type (
	mappedCall struct {
		Own      map[string][]string `json:"own,omitempty"`
		Envelope *mappedEnvelope     `json:"envelope,omitempty"`
		Sealed   string              `json:"sealed,omitempty"`
		Session  string              `json:"session,omitempty"`
	}
	mappedEnvelope struct {
		Host, Query string
		Header      map[string][]string
		Bare        bool
	}
)

func (p Pairs) lists() map[string][]string {
	lists := map[string][]string{}
	for i := 0; i < len(p); i += 2 {
		lists[p[i]] = append(lists[p[i]], p[i+1])
	}
	return lists
}

func TestStoredCallIsTheLastVersions(t *testing.T) {
	header := Pairs{"X-Many", "b", "X-User", "J\u00f6rg <\"\\\u2028>", "X-Many", "a", "X-Empty", "", "X-Many", "b"}
	for name, s := range map[string]StoredCall{
		"empty":         {},
		"bare":          {Own: Pairs{"Mcp-Name", "slow"}, Envelope: &Envelope{Host: "h", Query: "q=1&r", Header: header, Bare: true}},
		"no headers":    {Envelope: &Envelope{}},
		"sealed":        {Own: header, Sealed: "sealed", Session: "session"},
		"as it is kept": {Own: Pairs{"Accept", "a, b", "Accept", "c"}, Envelope: &Envelope{Header: Pairs{"Via", "1.1 berth"}, Bare: true}, Session: "s"},
	} {
		t.Run(name, func(t *testing.T) {
			before := mappedCall{Own: s.Own.lists(), Sealed: s.Sealed, Session: s.Session}
			if e := s.Envelope; e != nil {
				before.Envelope = &mappedEnvelope{e.Host, e.Query, e.Header.lists(), e.Bare}
			}
			line, body, _ := bytes.Cut(s.Encode([]byte("{}\n")), []byte("\n"))
			if string(body) != "{}\n" {
				t.Errorf("the body is %q", body)
			}
			var read mappedCall
			if err := json.Unmarshal(line, &read); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if read.Own == nil {
				read.Own = map[string][]string{}
			}
			if !reflect.DeepEqual(read, before) {
				t.Errorf("the last version reads %+v of %s, want %+v", read, line, before)
			}
			written, _ := json.Marshal(before)
			var now StoredCall
			if err := json.Unmarshal(written, &now); err != nil {
				t.Fatal(err)
			}
			again, _, _ := bytes.Cut(now.Encode(nil), []byte("\n"))
			var round mappedCall
			if err := json.Unmarshal(again, &round); err != nil || !reflect.DeepEqual(round.Own, read.Own) && len(round.Own)+len(read.Own) > 0 || !reflect.DeepEqual(round.Envelope, read.Envelope) {
				t.Errorf("%s was read as %s (%v)", written, again, err)
			}
		})
	}
}

func TestStoredCallKeepsWhatWasNotSent(t *testing.T) {
	want := Envelope{Host: "h", Header: Pairs{"Via", "1.1 berth"}, Unsent: "digest"}
	var got Envelope
	if err := json.Unmarshal(want.Encode(), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
