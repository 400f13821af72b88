package mcp

import (
	"bytes"
	"testing"
)

// What becomes of a call in a first round is no other round's.
func TestWhatIsKnownOfAFirstRoundIsItsAlone(t *testing.T) {
	body := formBodies()[2]
	rounds := []Round{{}, {ID: []byte("9"), ProgressToken: "t"}, {ProgressToken: "t", WithoutTask: true}, {ProgressToken: "t", Answered: true, State: []byte(`"s"`)}}
	var want [][]byte
	for _, known := range []bool{false, true} {
		forgetClients()
		if known {
			_, _, _ = peeked([]byte(body))
			_, _ = Round{ProgressToken: "t"}.Body([]byte(body))
		}
		for i, r := range rounds {
			got, err := r.Body([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if !known {
				want = append(want, got)
			} else if !bytes.Equal(got, want[i]) {
				t.Errorf("%+v: got %s, want %s", r, got, want[i])
			}
		}
	}
}

// A call like one that was sent before costs the message that is sent.
func TestAKnownFirstRoundCostsItsMessage(t *testing.T) {
	forgetClients()
	body := []byte(formBodies()[0])
	_, _, _ = peeked(body)
	if n := testing.AllocsPerRun(100, func() { _, _ = Round{ProgressToken: "t"}.Body(body) }); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}
