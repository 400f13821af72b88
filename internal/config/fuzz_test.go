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
func FuzzParse(f *testing.F) {
	f.Add(readSeed(f))
	f.Add(minimal)
	f.Add(awkward)
	f.Add("listen = 1\npools = [{ upstreams = [ { url = 1 } ] }]")
	f.Add(minimal + "[[upgrade]]\ntools = [\"a*\", \"?\"]\n[[upgrade]]\ntools = [\"a\", 1]\nafter = \"1s\"")
	f.Add("a = {\n  b = 1, # TOML 1.1\n}\n[\"\\e\"]\n'' = \"\"")
	f.Fuzz(func(t *testing.T, text string) {
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

func readSeed(f *testing.F) string {
	f.Helper()
	data, err := os.ReadFile(exampleFile)
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}
