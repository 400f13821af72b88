package site

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"berth/internal/reload"
)

const (
	lookWithin = 4 * time.Second

	// lookAbandoned ends looks that heed no context: a large file, or the look-up of a name.
	lookAbandoned = 5 * time.Second
)

type look struct {
	key string                              // what of the configuration it is about
	see func(ctx context.Context) []Finding // safe beside all others
}

func seeAll(ctx context.Context, looks []look) (found []Finding) {
	seen := make([][]Finding, len(looks))
	var running sync.WaitGroup
	for i, l := range looks {
		running.Go(func() { seen[i] = l.bounded(ctx) })
	}
	running.Wait()
	for _, part := range seen {
		found = append(found, part...)
	}
	return found
}

func (l look) bounded(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- l.see(ctx) }()
	select {
	case found := <-done:
		return found
	case <-time.After(lookAbandoned):
		return []Finding{{Key: l.key, Text: fmt.Sprintf("nothing was found out within %v", lookAbandoned)}}
	}
}

// Finding is what is wrong with what the configuration names, or to be minded.
type Finding struct {
	Key     string // of the configuration, as in config.Fault
	Text    string // without secrets
	Warning bool   // berth keeps its promises all the same
}

func fault(key string, err error) Finding { return Finding{Key: key, Text: worded(err)} }

// faultsIn is fault for each of the errors that err joins, which say of which key they are.
func faultsIn(err error) (found []Finding) {
	for _, one := range reload.Each(err) {
		found = append(found, fault(KeyOf(one), one))
	}
	return found
}

func worded(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer within %v", lookWithin)
	}
	return err.Error()
}

// String returns "key: text" on one line. Some of the words may be a server's, or the system's.
func (f Finding) String() string {
	line := f.Key + ": "
	if f.Warning {
		line += "warning: "
	}
	return line + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, f.Text)
}

// Findings are an error of one or more.
type Findings []Finding

// Error returns one finding a line.
func (f Findings) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}
