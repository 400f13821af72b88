package inbound

import (
	"testing"

	"berth/internal/wire"
)

// What nearly all clients write says what it says in any other spelling, whatever stands before and behind it.
func TestTheUsualAcceptSaysWhatItsSpellingsSay(t *testing.T) {
	const other = jsonText + " ,\t" + eventStream
	lines := []string{"", "*/*", "application/*;q=0", jsonText + ";q=0", eventStream + ";q=0", "text/*", bothTypes}
	for _, before := range lines {
		for _, after := range lines {
			for _, wanted := range []string{jsonText, eventStream} {
				got := accepts(wire.NewHeader("Accept", before, "Accept", bothTypes, "Accept", after), wanted)
				want := accepts(wire.NewHeader("Accept", before, "Accept", other, "Accept", after), wanted)
				if got != want {
					t.Errorf("%q and %q around it: %s is taken: %v, want %v", before, after, wanted, got, want)
				}
			}
		}
	}
	if h := wire.NewHeader("Accept", bothTypes); !accepts(h, jsonText) || !accepts(h, eventStream) {
		t.Error("it takes not both")
	}
}
