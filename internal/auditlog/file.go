package auditlog

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"berth/internal/series"

	"go.opentelemetry.io/otel/metric"
)

const (
	retryEvery = time.Second // how often a file that fails is tried again
	mostKept   = 1 << 20     // bytes that wait for it
	fileMode   = 0o640
)

// file is a file that lines are appended to.
type file struct {
	path string
	log  *slog.Logger
	lost metric.Int64Counter

	mu      sync.Mutex // guards the fields below; held while lines are written
	out     *os.File   // nil: it cannot be opened
	kept    []byte     // lines that could not be written yet, whole
	begun   int        // bytes of the first of these that out has
	failing error      // why not; nil: all is well
	retry   *time.Timer
	missing int64 // lines that were lost since it began to fail
}

func openFile(path string, o Options) (*file, error) {
	f := &file{path: path, log: o.Logger}
	f.lost, _ = series.Meter(o.Meter, "berth/auditlog").Int64Counter("berth.audit.lost", // it fails on a malformed name only
		metric.WithDescription("Lines of the audit log that its file did not take."))
	series.Begin(f.lost)
	f.retry = time.AfterFunc(retryEvery, func() { _, _ = f.Write(nil) })
	f.retry.Stop()
	var err error
	f.out, err = openAppending(path)
	return f, err
}

func openAppending(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, fileMode)
}

// Write takes whole lines, after those that wait. It never fails: what is not written waits, or is lost.
func (f *file) Write(lines []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(lines)
	if len(f.kept) > 0 {
		lines = f.keep(lines)
	}
	f.note(f.append(lines))
	return n, nil
}

// keep returns what waits, lines included as far as there is room.
func (f *file) keep(lines []byte) []byte {
	if len(f.kept)+len(lines) > mostKept {
		n := int64(bytes.Count(lines, []byte("\n")))
		f.lost.Add(context.Background(), n)
		f.missing += n
		return f.kept
	}
	f.kept = append(f.kept, lines...)
	return f.kept
}

// append writes lines to the file that the path leads to now, and keeps what that did not take.
func (f *file) append(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	err := f.follow()
	written := 0
	if err == nil {
		written, err = f.out.Write(lines[f.begun:])
	}
	written += f.begun
	first := bytes.LastIndexByte(lines[:written], '\n') + 1
	f.kept, f.begun = append([]byte(nil), lines[first:]...), written-first
	return err
}

// follow opens the file anew if its path leads elsewhere by now.
func (f *file) follow() error {
	there, err := os.Stat(f.path)
	if err == nil && f.out != nil {
		if here, err := f.out.Stat(); err == nil && os.SameFile(here, there) {
			return nil
		}
	}
	next, err := openAppending(f.path)
	if err != nil {
		return err
	}
	if f.out != nil {
		_ = f.out.Close()
	}
	f.out, f.begun = next, 0
	return nil
}

// note tells of a change, and has what is kept be tried again.
func (f *file) note(err error) {
	switch {
	case err != nil && f.failing == nil:
		f.log.Error("the audit log cannot be written, lines are kept for now", "file", f.path, "error", err)
	case err == nil && f.failing != nil:
		f.log.Info("the audit log is written again", "file", f.path, "lost", f.missing)
		f.missing = 0
	}
	if f.failing = err; err != nil {
		f.retry.Reset(retryEvery)
	}
}

// close closes the file. What is kept still is lost.
func (f *file) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retry.Stop()
	if len(f.kept) > 0 {
		f.note(f.append(f.kept))
		f.retry.Stop()
	}
	if n := int64(bytes.Count(f.kept, []byte("\n"))) + f.missing; n > 0 && f.failing != nil {
		f.log.Error("lines of the audit log are lost", "file", f.path, "lines", n)
	}
	if f.out != nil {
		_ = f.out.Close()
	}
}
