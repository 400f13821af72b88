package integration

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runLog is the file in which the instances of a legacy fixture write down each execution
// of a tool. It outlives them, and knows of those on stdio too.
type runLog struct{ path string }

func newRunLog(t testing.TB) runLog {
	t.Helper()
	return runLog{path: filepath.Join(t.TempDir(), "runs.jsonl")}
}

// count is how often each nonce, or each tool that was called without one, has begun, ended
// or was cutOff, or was answered.
func (l runLog) count(t testing.TB, what string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var run struct{ What, Nonce string }
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			continue // whoever wrote it was killed over it
		}
		if run.What == what {
			counts[run.Nonce]++
		}
	}
	return counts
}

// wantOnce fails the test unless the tool of each nonce ran once.
func (l runLog) wantOnce(t testing.TB, nonces ...string) {
	t.Helper()
	begun := l.count(t, "begun")
	for _, nonce := range nonces {
		if begun[nonce] != 1 {
			t.Errorf("executions of %s: got %d, want 1", nonce, begun[nonce])
		}
	}
}

// wantNoneTwice fails the test if the tool of any nonce ran more than once.
func (l runLog) wantNoneTwice(t testing.TB) {
	t.Helper()
	for nonce, n := range l.count(t, "begun") {
		if n > 1 {
			t.Errorf("executions of %s: got %d, want at most 1", nonce, n)
		}
	}
}

// awaitOver waits until whatever began for a nonce has ended, or was cut off.
func (l runLog) awaitOver(t testing.TB, nonce string) {
	t.Helper()
	if !await(t, readyWithin, func() bool { return l.count(t, "ended")[nonce]+l.count(t, "cutOff")[nonce] > 0 }) {
		t.Errorf("%s still runs, want it over", nonce)
	}
}
