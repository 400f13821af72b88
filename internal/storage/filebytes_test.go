//go:build e2e || !race

package storage_test

import (
	"bytes"
	"strings"
	"testing"
)

// Whichever byte of a file is another than was written: opening it says so, or nothing
// is lost. Only the last commit may be, and then it is said.
func TestNoDamageIsSilentLoss(t *testing.T) {
	t.Parallel()
	sample := sampleFile(t)
	path, _ := inFile(t)
	const stride = 31 // finds each field of each page, in time
	refused := 0
	for at := 0; at < len(sample); at += stride {
		damaged := bytes.Clone(sample)
		damaged[at] ^= 0x55
		s, says, err := openContent(t, path, damaged)
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "the file is damaged") && !strings.Contains(err.Error(), "another program") && !strings.Contains(err.Error(), "newer berth") {
				t.Errorf("byte %d: got %v, want it to say that the file is damaged", at, err)
			}
			continue
		}
		// A page that is wrongly taken for free is lost when something is written.
		put(t, s, "large", strings.Repeat("x", 64<<10))
		if n := lost(t, s); n > 1 || n == 1 && !strings.Contains(says, "the last writes may be lost") {
			t.Errorf("byte %d: opened, with %d records lost; logged %q", at, n, says)
		}
		if err := s.Close(); err != nil {
			t.Errorf("byte %d: Close: %v", at, err)
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}
