//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"berth/integration/bench/report"
)

func TestABlockTakesThePlaceOfWhatStoodThere(t *testing.T) {
	const text = "before\n<!-- bench: goals -->\n\nold\n\n<!-- bench: end of goals -->\nafter\n"
	got, err := block{"goals", "new\n"}.into(text)
	if want := strings.Replace(text, "old", "new", 1); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	again, err := block{"goals", "new\n"}.into(got)
	if err != nil || again != got {
		t.Errorf("a second time: got %q, %v, want the same", again, err)
	}
	for _, text := range []string{"", "<!-- bench: goals -->\n", "<!-- bench: end of goals -->"} {
		if got, err := (block{"goals", "new\n"}).into(text); err == nil {
			t.Errorf("%q: got %q, want an error", text, got)
		}
	}
}

// The page has a place for whatever the benchmark may write there.
func TestThePageHasAPlaceForEachBlock(t *testing.T) {
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range append(blocksOf(report.Run{}), profileBlocks("", nil, nil)...) {
		if _, err := b.into(string(text)); err != nil {
			t.Error(err)
		}
	}
}
