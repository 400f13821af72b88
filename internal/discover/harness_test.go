package discover_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"berth/internal/discover"
	"berth/internal/realtest"
)

// template is where the tests' instances have their endpoint.
var template = discover.URLTemplate{Scheme: "http", Path: "/mcp"}

// hearer remembers what a source tells.
type hearer struct {
	mu     sync.Mutex
	list   []discover.Instance
	err    error
	told   int
	failed int
}

// hear follows a source until the test ends.
func hear(t *testing.T, s discover.Source) *hearer {
	h := new(hearer)
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.Watch(ctx, func(list []discover.Instance, err error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.err = err
			if h.told++; err == nil {
				h.list = list
			} else {
				h.failed++
			}
		})
	}()
	t.Cleanup(func() { stop(); <-over })
	return h
}

func (h *hearer) last() (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return worded(h.list), h.err
}

func (h *hearer) failures() int { h.mu.Lock(); defer h.mu.Unlock(); return h.failed }

// await waits until the last answer is this.
func (h *hearer) await(t *testing.T, want string) {
	t.Helper()
	realtest.Eventually(t, want, func() bool { got, err := h.last(); return err == nil && got == want })
}

// awaitError waits until the last answer is an error with these words.
func (h *hearer) awaitError(t *testing.T, words string) {
	t.Helper()
	realtest.Eventually(t, words, func() bool { _, err := h.last(); return err != nil && strings.Contains(err.Error(), words) })
}

// at are instances at hosts of their names, which blanks part.
func at(names string) (list []discover.Instance) {
	for name := range strings.FieldsSeq(names) {
		list = append(list, discover.Instance{Name: name, URL: &url.URL{Scheme: "http", Host: name}})
	}
	return list
}

// worded are instances in short: name@host:port, and what else is said of them.
func worded(list []discover.Instance) string {
	var words []string
	for _, i := range list {
		word := i.Name
		if i.Name != i.URL.Host {
			word += "@" + i.URL.Host
		}
		if i.Draining {
			word += " drains"
		}
		if i.Backup {
			word += " backup"
		}
		if i.Weight > 0 {
			word += fmt.Sprintf(" weight %d", i.Weight)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}
