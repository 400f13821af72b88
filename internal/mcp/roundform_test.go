package mcp

import (
	"bytes"
	"reflect"
	"testing"
)

// A call is sent alike whether one like it was sent before or not, whatever of it has changed.
func TestAFirstRoundIsMadeAlikeAgain(t *testing.T) {
	first := func(token, body string) ([]byte, error) { return Round{ProgressToken: token}.Body([]byte(body)) }
	for _, body := range formBodies() {
		for i := range len(body) + 1 {
			for _, put := range []string{"", `"`, "{", ",", "x", "1", `\`, `"x":1,`, `"Extensions":2,`, `"progressToken":{},`, `"_meta":null,`} {
				changed := body[:i] + put + body[min(i+1, len(body)):]
				forgetClients()
				if _, _, refused := peeked([]byte(changed)); refused != nil {
					continue // nobody sends it
				}
				forgetClients()
				want, wantErr := first("t", changed)
				_, _, _ = peeked([]byte(body))
				for _, token := range []string{"other", `an"other`} {
					_, _ = first(token, body)
				}
				got, err := first("t", changed)
				if !bytes.Equal(got, want) || !reflect.DeepEqual(err, wantErr) {
					t.Fatalf("%s\ngot  %s, %v\nwant %s, %v", changed, got, err, want, wantErr)
				}
			}
		}
	}
}

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
