package task

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"berth/internal/mcp/inquiry"
)

func TestLongInputsAreKeptBesideTheRecord(t *testing.T) {
	long := func(c string) json.RawMessage { return json.RawMessage(`{"c":"` + strings.Repeat(c, LongInput) + `"}`) }
	asks := []Ask{{Key: "a", Request: long("r"), Answer: long("x")}, {Key: "b", Answer: json.RawMessage(`{}`)}, {Key: "c", Answer: long("x")}, {Key: "d"}}
	is := &Task{ID: "T", Round: 1, State: InputRequired, RequestState: json.RawMessage(`"` + strings.Repeat("s", LongInput) + `"`), Asks: asks, Size: 7}
	was := *is
	kept := map[string][]byte{}
	keep := func(name string, value []byte) error {
		kept[name] = value
		return nil
	}
	if err := is.SetAside(keep); err != nil || len(kept) != 3 || len(is.Asides()) != 3 {
		t.Fatalf("got %v, with %d values beside the record, and %v", err, len(kept), is.Asides())
	}
	if asks[0].Answer[0] != '{' {
		t.Error("what others see of the asks has changed")
	}
	text := is.Encode()
	if len(text) > 2*LongInput || !strings.HasPrefix(string(text), `{"v":2,`) {
		t.Errorf("the record: %d bytes, %.20s", len(text), text)
	}
	read, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := read.Weight(), was.Weight(); got < want || got > want+200 {
		t.Errorf("it keeps %d bytes, want %d", got, want)
	}
	if open := read.OpenAsks(); len(open) != 1 || open[0].Key != "d" {
		t.Errorf("open are %+v", open)
	}
	fetch := func(name string) ([]byte, error) { return kept[name], nil }
	whole, err := read.Whole(fetch)
	if err != nil || !reflect.DeepEqual(whole.Asks, was.Asks) || string(whole.RequestState) != string(was.RequestState) {
		t.Errorf("put together it is another one (%v)", err)
	}
	if state, err := read.StateWhole(fetch); err != nil || string(state) != string(was.RequestState) {
		t.Errorf("the requestState: %d bytes, %v", len(state), err)
	}
	if err := is.SetAside(func(string, []byte) error { return errors.New("again") }); err != nil {
		t.Errorf("what is beside the record is put there %v", err)
	}
	if err := was.SetAside(func(string, []byte) error { return ErrCallLost }); !errors.Is(err, ErrCallLost) {
		t.Errorf("got %v, want why it is not kept", err)
	}
}

// What stands for a value is berth's alone to write.
func TestNoClientNamesWhatIsKeptBesideARecord(t *testing.T) {
	asks := &Task{ID: "T", State: InputRequired, Asks: []Ask{{Key: "a", Request: json.RawMessage(`{}`)}}}
	op := &Op{ID: "op", Kind: Answer, Answers: []inquiry.Input{{Key: "a", Value: Aside{"x", 1 << 40}.place()}}}
	if next, changed, err := Transition(asks, op); changed || err != nil || next.Asks[0].Answer != nil {
		t.Errorf("got %s, %v", next.Asks[0].Answer, err)
	}
}
