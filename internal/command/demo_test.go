package command

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"berth/internal/config"
	"berth/internal/demo"
)

// The demonstration's rule is read as berth's file is, and it is what makes the
// difference: without its last key the tool runs several times at once, and that is told.
func TestDemoTakesItsRuleFromTheConfiguration(t *testing.T) {
	t.Parallel()
	const key = "concurrency = 1\n"
	err := demo.Run(t.Context(), &bytes.Buffer{}, demo.Options{
		Once: true,
		Front: func(upstreams map[string]string, rules string) (http.Handler, func(), error) {
			if rules != "" && !strings.Contains(rules, key) {
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
