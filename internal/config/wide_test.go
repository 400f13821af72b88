package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func faultsOf(t *testing.T, text string) Faults {
	t.Helper()
	_, err := Parse("c.toml", []byte(text))
	faults, ok := errors.AsType[Faults](err)
	if !ok {
		t.Fatalf("got %v, want faults", err)
	}
	return faults
}

func TestAllFaultsAreToldWhereTheyAreFew(t *testing.T) {
	for n, want := range map[int]string{maxFaults: "", maxFaults + 1: "c.toml: and 1 more", maxFaults + 30: "c.toml: and 30 more"} {
		var keys strings.Builder
		for i := range n {
			fmt.Fprintf(&keys, "x%d = 1\n", i)
		}
		faults := faultsOf(t, keys.String()+minimal)
		for i, f := range faults[:maxFaults] {
			if f.Key != fmt.Sprintf("x%d", i) || f.Line != i+1 {
				t.Fatalf("%d: fault %d is %v", n, i, f)
			}
		}
		if rest := faults[maxFaults:]; strings.TrimSpace(rest.Error()) != want {
			t.Errorf("%d faults: got %q behind the first, want %q", n, rest, want)
		}
	}
}

// A key stands for what is in its table, and for nothing that begins alike.
func TestAKeyCoversItsTable(t *testing.T) {
	set := keysOf([]Fault{{Key: "a.b"}, {Key: "c[1]"}})
	for _, key := range []string{"a.b", "a.b.c", "a.b[0]", "c[1]", "c[1].d.e"} {
		if !set.cover(key) {
			t.Errorf("%s is not covered", key)
		}
	}
	for _, key := range []string{"", "a", "a.bc", "a.c", "c", "c[10]", "c[0].d"} {
		if set.cover(key) {
			t.Errorf("%s is covered", key)
		}
	}
}

// Many faults of what a file names cost one reading of it.
func TestFaultsOfAFileReadItOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte("a = 1\n[b]\nc = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := FaultsAt(file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for key, line := range map[string]int{"a": 1, "b.c": 3, "b.d": 2, "e": 0} {
		if f := at(key, "no"); f != (Fault{File: file, Line: line, Key: key, Message: "no"}) {
			t.Errorf("%s: got %v", key, f)
		}
	}
}
