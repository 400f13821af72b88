package coretasks

import "testing"

// The id of a task of a process stands for itself: its session has the name of a berth, and its client may declare all there is.
func TestDeclarationsArePacked(t *testing.T) {
	for declared, most := range map[string]int{
		`{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}}}`: 20,
		`{"elicitation":{},"roots":{},"sampling":{}}`:                                                            7,
		`{"elicitation":{"x\u0001":"é"},"sampling":{"tools":{},"more":[{}]}}`:                                    50,
		`{}`: 2,
	} {
		text := packed([]byte(declared))
		if got := string(unpacked(text)); got != declared || len(text) > most {
			t.Errorf("%s: %d bytes, %s", declared, len(text), got)
		}
		if got := string(unpacked([]byte(declared))); got != declared {
			t.Errorf("%s of a berth up to 0.10.1: %s", declared, got)
		}
	}
}
