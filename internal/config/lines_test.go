package config

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// awkward is what a line finder gets wrong: brackets, hashes and quotes where
// they mean nothing, and keys that share a line or a name.
const awkward = `# [not] = "a table"
a = "x # ] [[b]]"    # line 2
"quoted key" = 'c:\' # line 3
b.c."d.e" = 1

text = """
[no]
k = 1 \""" \
""""
lit = '''
[[no]]'''''
list = [ # line 12
  "[", [1,
  2], { x = "}", y = { z = 1 } },
]

  [t] # line 17
k=1
[t.u.v]
k = 1979-05-27 07:32:00
[[p]]
n = 1
[[p.q]]
n = 2
[p.q.r]
n = 3
[[p.q]]
n = 4
[[ p ]]
n = 5
  [[p.q]]
  n = 6
`

func TestLinesOfAwkwardFiles(t *testing.T) {
	want := map[string]int{
		"a": 2, `"quoted key"`: 3, "b": 4, `b.c."d.e"`: 4, "text": 6, "lit": 10, "list": 12,
		"list[0]": 13, "list[1]": 13, "list[1][0]": 13, "list[1][1]": 14, "list[2].x": 14, "list[2].y.z": 14,
		"t": 17, "t.k": 18, "t.u": 19, "t.u.v.k": 20,
		"p": 21, "p[0].n": 22, "p[0].q": 23, "p[0].q[0].n": 24, "p[0].q[0].r.n": 26, "p[0].q[1].n": 28, "p[1].n": 30, "p[1].q[0].n": 32,
		"t.absent": 17, "p[1].q[0].absent": 31, "absent": 0,
	}
	for name, text := range map[string]string{"LF": awkward, "CRLF": strings.ReplaceAll(awkward, "\n", "\r\n"), "BOM": "\xef\xbb\xbf" + awkward} {
		lines := findLines(text)
		for key, line := range want {
			if got := lines.of(key); got != line {
				t.Errorf("%s: %s: got line %d, want %d", name, key, got, line)
			}
		}
		checkEveryKeyHasALine(t, text)
	}
}

func TestAByteOrderMarkIsNoPartOfTheFirstKey(t *testing.T) {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if got := findLines(mark + "\nlisten = 1").of("listen"); got != 2 {
			t.Errorf("%x: a line below: got line %d, want 2", mark, got)
		}
		checkEveryKeyHasALine(t, mark+"listen = 1")
	}
}

// checkEveryKeyHasALine compares the line finder with the real parser: whatever
// the one reads, the other must place.
func checkEveryKeyHasALine(t *testing.T, text string) {
	t.Helper()
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		return
	}
	lines, last := findLines(text), strings.Count(text, "\n")+1
	var walk func(key string, v any)
	walk = func(key string, v any) {
		if line, ok := lines[key]; key != "" && (!ok || line < 1 || line > last) {
			t.Errorf("%s: got line %d, %v, want one from 1 to %d\n%q", key, line, ok, last, text)
		}
		if table, ok := v.(map[string]any); ok {
			for name, child := range table {
				walk(joinKey(key, name), child)
			}
		}
		if list, ok := listOf(v); ok {
			for i, child := range list {
				walk(elementKey(key, i), child)
			}
		}
	}
	walk("", tree)
}
