package auditlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/journal"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.opentelemetry.io/otel/metric"
)

// Where an audit log may go.
const (
	Off    = "off"
	Stderr = "stderr"
	File   = "file:" // and a path
)

// Known reports whether where is one of the places.
func Known(where string) bool {
	path, isFile := strings.CutPrefix(where, File)
	return where == "" || where == Off || where == Stderr || isFile && path != ""
}

// mostTold is how many tasks are remembered whose results were given out.
const mostTold = 10_000

// Options are what a Log is made of.
type Options struct {
	Where  string               // see Known
	Stderr *journal.Journal     // where Stderr leads; required with that
	Logger *slog.Logger         // hears of a file that fails; required with File
	Meter  metric.MeterProvider // nil: nothing is measured
}

// Log is an audit log. Its methods may be called concurrently.
type Log struct {
	lines   journal.Liner
	journal *journal.Journal
	file    *file // nil: standard error
	told    *lru.Cache[string, struct{}]
}

// Open opens the log; nil is one that is off.
func Open(o Options) (*Log, error) {
	l := &Log{journal: o.Stderr}
	switch path, isFile := strings.CutPrefix(o.Where, File); {
	case o.Where == "" || o.Where == Off:
		return nil, nil
	case isFile:
		var err error
		if l.file, err = openFile(path, o); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		l.journal = journal.New(l.file)
		l.journal.OnLoss(func() { l.file.lose(1) })
	}
	l.told, _ = lru.New[string, struct{}](mostTold) // it fails on a size below 1 only
	l.lines = l.journal.Patient(slog.LevelInfo).Handler().(journal.Liner)
	return l, nil
}

// Check reports why a log could not be opened at where, and writes nothing: a file that is not there yet needs a directory to stand in.
func Check(where string) error {
	path, isFile := strings.CutPrefix(where, File)
	if !isFile {
		return nil
	}
	file, err := openAppending(path, 0)
	switch {
	case err == nil:
		return file.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("audit log: %w", err)
	}
	directory := filepath.Dir(path)
	stands, err := os.Stat(directory)
	switch {
	case err != nil:
		return fmt.Errorf("audit log: %w", err)
	case !stands.IsDir():
		return fmt.Errorf("audit log: %s is no directory", directory)
	}
	return nil
}

// Begin begins a line, which its End has go out.
func (l *Log) Begin(at time.Time) *journal.Line { return l.lines.Begin(at, slog.LevelInfo, "audit") }

// IsFirst reports whether it is asked for the first time whether a thing was told; nobody who tells of 10,000
// others in between is remembered.
func (l *Log) IsFirst(thing string) bool {
	known, _ := l.told.ContainsOrAdd(thing, struct{}{})
	return !known
}

// Close writes what waits. What a file does not take then is lost, and logged as that; one that hangs is waited for for 2 s.
func (l *Log) Close() {
	if l == nil {
		return
	}
	if l.file == nil {
		l.journal.Flush()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	l.journal.FlushFor(ctx)
	l.file.close(ctx, l.journal.Waiting())
}
