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

// Of a line that was cut the last of what is passed over is told, and one that has no end is not passed over.
func TestTheEndOfALineThatWasCut(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("y", 101) + "\nb\n":                   "y",
		strings.Repeat("y", 40<<10) + "the end\nb\n":         strings.Repeat("y", keptEnd-7) + "the end",
		strings.Repeat("y", 16<<10+keptEnd-1) + "end\nb\n":   strings.Repeat("y", keptEnd-3) + "end",
		strings.Repeat("y", 100) + "the end\nb\n":            "the end",
		strings.Repeat("y", 200) + "no line's end\r\nb\nc\n": strings.Repeat("y", 100) + "no line's end\r",
	} {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			lines := newLineReader(r, 100)
			if _, cut, err := lines.next(); !cut || err != nil {
				t.Fatalf("got %v, %v", cut, err)
			}
			end, err := lines.rest(1 << 20)
			if string(end) != want || err != nil {
				t.Errorf("got %q, %v, want %q", end, err, want)
			}
			if next, _, err := lines.next(); string(next) != "b" || err != nil {
				t.Errorf("then got %q, %v", next, err)
			}
		}
	}
	lines := newLineReader(strings.NewReader(strings.Repeat("y", 1<<20)), 100)
	_, _, _ = lines.next()
	if _, err := lines.rest(1 << 19); !errors.Is(err, errEndless) {
		t.Errorf("of one without an end: got %v", err)
	}
}
