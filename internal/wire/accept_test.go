package wire

import "testing"

// What nearly all clients write says what it says in any other spelling, whatever stands before and behind it.
func TestTheUsualAcceptSaysWhatItsSpellingsSay(t *testing.T) {
	const other = JSON + " ,\t" + Events
	lines := []string{"", "*/*", "application/*;q=0", JSON + ";q=0", Events + ";q=0", "text/*", bothTypes}
	for _, before := range lines {
		for _, after := range lines {
			for _, wanted := range []string{JSON, Events} {
				got := NewHeader("Accept", before, "Accept", bothTypes, "Accept", after).Accepts(wanted)
				want := NewHeader("Accept", before, "Accept", other, "Accept", after).Accepts(wanted)
				if got != want {
					t.Errorf("%q and %q around it: %s is taken: %v, want %v", before, after, wanted, got, want)
				}
			}
		}
	}
	if h := NewHeader("Accept", bothTypes); !h.Accepts(JSON) || !h.Accepts(Events) {
		t.Error("it takes not both")
	}
}

// Who takes anything is given no event stream where JSON would do: only one who refuses that.
func TestAStreamIsForThoseWhoNameIt(t *testing.T) {
	for accept, want := range map[string]bool{
		bothTypes:                      true,
		Events:                         true,
		"text/*;q=0.1":                 true,
		"*/*;q=0, " + Events:           true,
		"*/*, " + JSON + ";q=0":        true,
		"*/*":                          false,
		JSON + ", */*":                 false,
		"*/*, " + Events + ";q=0":      false,
		"*/*;q=0, " + JSON + ";q=0":    false,
		"":                             false,
		"application/*, text/x, */*;a": false,
	} {
		if got := NewHeader("Accept", accept).Streams(); got != want {
			t.Errorf("%q: got a stream: %v, want %v", accept, got, want)
		}
	}
	if NewHeader().Streams() {
		t.Error("a stream is given to who has no Accept")
	}
}
