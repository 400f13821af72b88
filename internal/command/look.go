package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
)

const (
	lookWithin = 4 * time.Second

	// lookAbandoned ends looks that heed no context: a large file, or the look-up of a name.
	lookAbandoned = 5 * time.Second
)

type look struct {
	key string                              // what of the configuration it is about
	see func(ctx context.Context) []finding // safe beside all others
}

func seeAll(ctx context.Context, looks []look) (found []finding) {
	seen := make([][]finding, len(looks))
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

func (l look) bounded(ctx context.Context) []finding {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	done := make(chan []finding, 1)
	go func() { done <- l.see(ctx) }()
	select {
	case found := <-done:
		return found
	case <-time.After(lookAbandoned):
		return []finding{{key: l.key, text: fmt.Sprintf("nothing was found out within %v", lookAbandoned)}}
	}
}

type finding struct {
	key     string // of the configuration, as in config.Fault
	text    string // without secrets
	warning bool   // berth keeps its promises all the same
}

func fault(key string, err error) finding { return finding{key: key, text: worded(err)} }

// faultAt is fault for an error that says of which key it is.
func faultAt(err error) finding {
	keyed, ok := errors.AsType[*keyedError](err)
	if !ok {
		return fault("", err)
	}
	return fault(keyed.key, keyed.error)
}

func worded(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer within %v", lookWithin)
	}
	return err.Error()
}

// String returns "key: text" on one line. Some of the words may be a server's, or the system's.
func (f finding) String() string {
	line := f.key + ": "
	if f.warning {
		line += "warning: "
	}
	return line + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, f.text)
}

type findings []finding

// Error returns one finding a line.
func (f findings) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}
