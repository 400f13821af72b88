package verbs

import "testing"

func TestAViewIsCutToItsScreen(t *testing.T) {
	for height, want := range map[int]string{1: "5", 2: "4\n5", 3: "1\n4\n5", 5: "1\n2\n3\n4\n5", 9: "1\n2\n3\n4\n5"} {
		if got := cut("1x\n2x\n3x\n4x\n5x", 1, height); got != want {
			t.Errorf("in %d lines: %q, want %q", height, got, want)
		}
	}
}
