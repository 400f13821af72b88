package mcp

import (
	"strings"
	"testing"
)

// Each byte is judged alike wherever it stands, and as a header's value and as an id by the same rule as by itself.
func TestAByteIsPrintableWhereverItStands(t *testing.T) {
	for c := range 256 {
		for before := range 17 {
			for after := range 9 {
				s := strings.Repeat("a", before) + string([]byte{byte(c)}) + strings.Repeat("~ ", after)
				if got, want := isPrintable(s), c >= ' ' && c <= '~'; got != want {
					t.Fatalf("%q: got %v", s, got)
				}
				if got, want := hasForeignBytes(s), c != '\t' && (c < ' ' || c > '~'); got != want {
					t.Fatalf("%q has foreign bytes: %v", s, got)
				}
				if got, want := hasUnfit(s), c < ' ' || c > '~'; got != want {
					t.Fatalf("%q has what is unfit: %v", s, got)
				}
			}
		}
	}
	if !isPrintable("") {
		t.Error("nothing is not printable")
	}
}
