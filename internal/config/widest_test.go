//go:build e2e || !race

package config

import (
	"fmt"
	"strings"
	"testing"
)

// wide is a text of many elements, half as long as a file may be.
func wide(element func(i int) string) string {
	var text strings.Builder
	for i := 0; text.Len() < MaxFile/2; i++ {
		text.WriteString(element(i))
	}
	return text.String()
}

// A file with very many faults is refused in about a second each, of which the first are told, and how many more there are. Where
// each fault is compared with each other, this test takes longer than tests may.
func TestWideFilesAreRefusedSoon(t *testing.T) {
	for what, text := range map[string]string{
		"keys":      wide(func(i int) string { return fmt.Sprintf("a%d=1\n", i) }),
		"tables":    wide(func(i int) string { return fmt.Sprintf("[a%d]\n", i) }),
		"both":      "trusted_proxies=[" + strings.Repeat("1,\n", 100_000) + "]\n[[pools]]\nhosts=[" + strings.Repeat("\"/\",\n", 100_000) + "]",
		"variables": "[[pools]]\nhosts=[\n" + wide(func(int) string { return "\"${NOT_SET_ANYWHERE}\",\n" }) + "]",
	} {
		faults := faultsOf(t, text)
		last := faults[len(faults)-1]
		if len(faults) != maxFaults+1 || last.File != "c.toml" || !strings.HasPrefix(last.Message, "and ") || !strings.HasSuffix(last.Message, " more") {
			t.Errorf("%s: got %d faults, and %q", what, len(faults), last)
		}
		if first := faults[maxFaults-1]; first.Line > maxFaults+2 {
			t.Errorf("%s: the last that is told is of line %d: they are not the first of the file", what, first.Line)
		}
	}
}
