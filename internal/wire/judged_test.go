package wire

import (
	"slices"
	"testing"
)

// Only whoever has looked at a field says that it was judged: what is set in its place was not.
func TestWhatIsSetInPlaceOfAFieldIsNotJudged(t *testing.T) {
	var h Header
	h.Append(Field{Name: "A", Value: "b", Judged: true})
	h.Set("A", "c\r\nd")
	h.Add("E", "f")
	for _, f := range h.Fields() {
		if f.Judged {
			t.Errorf("%+v", f)
		}
	}
}

// What is put by berth's own words stays judged, and a header that fields were laid into knows them as if each had been added.
func TestFieldsThatAreLaidIn(t *testing.T) {
	h := NewHeader("A", "1", "B", "2", "A", "3")
	h.Put(Own("A", "4"))
	if got, want := h.Fields(), []Field{Own("A", "4"), {Name: "B", Value: "2"}}; !slices.Equal(got, want) {
		t.Errorf("put: got %+v, want %+v", got, want)
	}
	h.Forget()
	other := NewHeader("C", "5", "D-Long", "6")
	h.Use(append(h.Spare(2), other.Fields()...), other)
	if h.Get("C") != "5" || h.Get("D-Long") != "6" || h.Has("A") || len(h.Fields()) != 2 {
		t.Errorf("laid in: got %+v", h.Fields())
	}
}

// What a name lacks is supplied: a field that says something stays, and one that says nothing is replaced where it stands.
func TestWhatIsSupplied(t *testing.T) {
	h := NewHeader("Via", "1.0 x", "User-Agent", "", "Accept", "a")
	agent := Own("User-Agent", "")
	for _, f := range []Field{Own("Via", "1.1 berth"), agent.Of("b", true), Own("Accept-Encoding", "identity")} {
		h.Supply(f)
	}
	want := []Field{
		{Name: "Via", Value: "1.0 x"}, {Name: "User-Agent", Value: "b", Judged: true, Usual: UsualOf("User-Agent")},
		{Name: "Accept", Value: "a"}, Own("Accept-Encoding", "identity"),
	}
	if got := h.Fields(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if f := agent.Of("c\n", false); f.Judged || f.Usual != agent.Usual {
		t.Errorf("not judged: got %+v", f)
	}
}
