package process

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLinesAreCutAndTheNextOneIsWhole(t *testing.T) {
	long := strings.Repeat("x", 40<<10)
	for name, tc := range map[string]struct {
		text string
		want []string // "…" after one that was cut
	}{
		"plain":        {"a\nbc\n", []string{"a", "bc"}},
		"no last end":  {"a\nbc", []string{"a", "bc"}},
		"empty":        {"\n\na\n", []string{"", "", "a"}},
		"nothing":      {"", nil},
		"just fits":    {strings.Repeat("y", 100) + "\nb\n", []string{strings.Repeat("y", 100), "b"}},
		"one too many": {strings.Repeat("y", 101) + "\nb\n", []string{strings.Repeat("y", 100) + "…", "b"}},
		"long":         {long + "\nb\n" + long + "\n", []string{long[:100] + "…", "b", long[:100] + "…"}},
		"long, no end": {"a\n" + long, []string{"a", long[:100] + "…"}},
		"long, an end": {long + "\n", []string{long[:100] + "…"}},
	} {
		for _, r := range []io.Reader{strings.NewReader(tc.text), iotest.OneByteReader(strings.NewReader(tc.text))} {
			lines := newLineReader(r, 100)
			var got []string
			for {
				line, cut, err := lines.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if cut {
					line = append(line, "…"...)
				}
				got = append(got, string(line))
			}
			if strings.Join(got, "|") != strings.Join(tc.want, "|") {
				t.Errorf("%s: got %q, want %q", name, got, tc.want)
			}
		}
	}
}
