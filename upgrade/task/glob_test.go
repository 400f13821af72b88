package task

import (
	"regexp"
	"strings"
	"testing"
)

func TestGlobNamesTools(t *testing.T) {
	for _, tt := range []struct {
		glob Glob
		tool string
		want bool
	}{
		{"slow", "slow", true},
		{"slow", "Slow", false},
		{"slow", "slower", false},
		{"slow", "very_slow", false},
		{"slow", "", false},
		{"slow_*", "slow_compute", true},
		{"slow_*", "slow_", true},
		{"slow_*", "slow", false},
		{"*", "", true},
		{"*", "a/b.c", true},
		{"a*/c", "a/b/c", true},
		{"*_report", "make_report", true},
		{"*_report", "make_report_", false},
		{"*ab*ab", "abaab", true},
		{"*ab*ab", "xabx", false},
		{"a.c", "abc", false},
		{"a?c", "a/c", true},
		{"a?c", "ac", false},
		{"a?c", "aéc", true},
		{"a??c", "aéc", false},
		{"*??", "é", false},
		{"*?x", "ééx", true},
		{"[ab]", "a", false},
	} {
		if got := tt.glob.Match(tt.tool); got != tt.want {
			t.Errorf("%q, tool %q: got %v, want %v", tt.glob, tt.tool, got, tt.want)
		}
	}
}

// Every text of the alphabet up to a length is compared with a regular expression.
func TestGlobAgreesWithARegularExpression(t *testing.T) {
	tools, globs := words("ab", 5), words("ab*?", 4)
	for _, glob := range globs {
		pattern := regexp.MustCompile("^" + strings.NewReplacer("*", ".*", "?", ".").Replace(glob) + "$")
		for _, tool := range tools {
			if got, want := Glob(glob).Match(tool), pattern.MatchString(tool); got != want {
				t.Fatalf("%q, tool %q: got %v, want %v", glob, tool, got, want)
			}
		}
	}
}

// A glob that is said to cover another leaves it nothing, and each covers itself.
func TestCoveringIsNeverClaimedWrongly(t *testing.T) {
	tools, globs := words("ab", 4), words("ab*?", 3)
	claims := 0
	for _, glob := range globs {
		if !Glob(glob).Covers(Glob(glob)) || !Glob("*").Covers(Glob(glob)) {
			t.Errorf("%q: is not covered by itself and by every tool's", glob)
		}
		for _, other := range globs {
			if !Glob(glob).Covers(Glob(other)) {
				continue
			}
			claims++
			for _, tool := range tools {
				if Glob(other).Match(tool) && !Glob(glob).Match(tool) {
					t.Fatalf("%q covers %q, but names not %q", glob, other, tool)
				}
			}
		}
	}
	if claims <= 2*len(globs) {
		t.Errorf("got %d claims among %d globs", claims, len(globs))
	}
	if !Glob("gen_*").Covers("gen_video_*") || Glob("gen_?").Covers("gen_*") {
		t.Error("a prefix covers what begins with it, and one character is not any number")
	}
}

// words are all texts of the letters up to a length, the empty one left out.
func words(letters string, longest int) []string {
	all := []string{""}
	for from := 0; longest > 0; longest-- {
		for _, word := range all[from:] {
			for _, letter := range letters {
				all = append(all, word+string(letter))
			}
			from++
		}
	}
	return all[1:]
}

func TestCheckRefusesWhatCannotBeMeant(t *testing.T) {
	for _, glob := range []Glob{"", "a\nb", "\xff", "[ab]*", "{a,b}", `a\*`, Glob(strings.Repeat("a", 257))} {
		if glob.Check() == nil {
			t.Errorf("%q: got no error", glob)
		}
	}
	for _, glob := range []Glob{"*", "?", "generate_*", "a/b", "größe", Glob(strings.Repeat("a", 256))} {
		if err := glob.Check(); err != nil {
			t.Errorf("%q: %v", glob, err)
		}
	}
}
