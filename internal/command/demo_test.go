package command

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"berth/internal/config"
	"berth/internal/demo"
)

// TestMain is berth as well: in the demonstration berth runs this binary, and so do shells in tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == demo.ServerVerb || os.Getenv("BERTH_IN_SHELL") != "" {
		os.Exit(Run(context.Background(), os.Args, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func demoServer(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, demo.ServerVerb}
}

// The demonstration's rule is read as berth's file is, and it is what makes the
// difference: without its last key the tool runs several times at once, and that is told.
func TestDemoTakesItsRuleFromTheConfiguration(t *testing.T) {
	t.Parallel()
	const key = "concurrency = 1\n"
	err := demo.Run(t.Context(), &bytes.Buffer{}, demo.Options{
		Once: true, Server: demoServer(t),
		Front: func(upstreams map[string]string, rules string) (http.Handler, func(), error) {
			if len(upstreams) > 0 && rules != "" && !strings.Contains(rules, key) {
				t.Errorf("no %q in the rule:\n%s", key, rules)
			}
			return demoFront(upstreams, strings.Replace(rules, key, "", 1))
		},
	})
	if !errors.Is(err, demo.ErrOverrun) {
		t.Errorf("got %v, want %v", err, demo.ErrOverrun)
	}
}

func TestDemoRefusesFaultyRules(t *testing.T) {
	t.Parallel()
	_, _, err := demoFront(map[string]string{"a": "http://127.0.0.1:1/mcp"}, "[[upgrade]]\ntools = []\n")
	if _, faulty := errors.AsType[config.Faults](err); !faulty {
		t.Errorf("got %v, want what is wrong with the rule", err)
	}
}

// By the verb's own parts: a legacy server in a process of its own asks, and runs its tool once.
func TestDemoBridgesAServerThatItRuns(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := demo.Run(t.Context(), &text, demo.Options{Once: true, Front: demoFront, Server: demoServer(t)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "Hello, Ada!\n\nRuns of the tool: 1.") {
		t.Errorf("got\n%s", text.String())
	}
}
