package config

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"
)

// FuzzParse holds the loader to its promises, whatever the file: it ends, it
// returns either a valid configuration or faults that each fill one line, and it
// knows the line of every key that the TOML library reads.
//
// The example's tables are seeds of their own: with the whole of it as one the fuzzer spent
// its time on reading, and on making smaller, files of 14 kB.
func FuzzParse(f *testing.F) {
	for _, table := range tablesOf(readSeed(f)) {
		f.Add(table)
	}
	f.Add(minimal)
	f.Add(awkward)
	f.Add("listen = 1\npools = [{ upstreams = [ { url = 1 } ] }]")
	f.Add(minimal + "[[upgrade]]\ntools = [\"a*\", \"?\"]\n[[upgrade]]\ntools = [\"a\", 1]\nafter = \"1s\"")
	f.Add("a = {\n  b = 1, # TOML 1.1\n}\n[\"\\e\"]\n'' = \"\"")
	f.Add("a = {b = 1, c.d.e = 2, f = [1, 1.5, {g = 1.5, h.i = [2.5]}]}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxFuzzed {
			return
		}
		checkEveryKeyHasALine(t, text)
		cfg, err := Parse("f", []byte(text))
		if err == nil {
			if faults := cfg.Validate(); len(faults) > 0 {
				t.Fatalf("parsed, but %v", faults)
			}
			return
		}
		faults, ok := errors.AsType[Faults](err)
		if !ok || len(faults) == 0 {
			t.Fatalf("got %T (%v), want Faults", err, err)
		}
		for _, fault := range faults {
			if fault.Line < 0 || fault.Line > strings.Count(text, "\n")+1 || strings.ContainsFunc(fault.String(), unicode.IsControl) {
				t.Errorf("got fault %q at line %d", fault, fault.Line)
			}
		}
	})
}

// maxFuzzed bounds what is worth a look, in bytes: longer files have no more kinds of faults.
const maxFuzzed = 2 << 10

// tablesOf returns the tables of a file, each with its header, without comments.
func tablesOf(text string) (tables []string) {
	var table strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "[") && table.Len() > 0 {
			tables = append(tables, table.String())
			table.Reset()
		}
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			table.WriteString(line)
		}
	}
	return append(tables, table.String())
}

func readSeed(f *testing.F) string {
	f.Helper()
	data, err := os.ReadFile(exampleFile)
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}
