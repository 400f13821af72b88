package auditlog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"berth/internal/series"

	"go.opentelemetry.io/otel/metric"
)

const (
	retryEvery = time.Second // how often a file that fails is tried again
	mostKept   = 1 << 20     // bytes that wait for it
	fileMode   = 0o640

	writeTime = 500 * time.Millisecond // that a FIFO has for what is written; of a file on a disk nobody can bound it
	patience  = time.Second            // after which a file that takes nothing is told of; at the end it is waited for twice as long
)

var errStuck = errors.New("it takes nothing")

// output is an open file.
type output interface {
	io.WriteCloser
	Stat() (os.FileInfo, error)
	SetWriteDeadline(at time.Time) error
}

// file is a file that lines are appended to.
type file struct {
	path string
	log  *slog.Logger
	lost metric.Int64Counter

	missing atomic.Int64 // lines that were lost since it began to fail
	writing atomic.Int64 // lines that are being written

	turn    chan struct{} // holds one while lines are written, and the fields below are in use
	out     output        // nil: it cannot be opened
	kept    []byte        // lines that could not be written yet, whole
	begun   int           // bytes of the first of these that out has
	failing error         // why not; nil: all is well
	retry   *time.Timer
}

func openFile(path string, o Options) (*file, error) {
	f := &file{path: path, log: o.Logger, turn: make(chan struct{}, 1)}
	f.lost, _ = series.Meter(o.Meter, "berth/auditlog").Int64Counter("berth.audit.lost", // it fails on a malformed name only
		metric.WithDescription("Lines of the audit log that its file did not take."))
	series.Begin(f.lost)
	f.retry = time.AfterFunc(retryEvery, func() { _, _ = f.Write(nil) })
	f.retry.Stop()
	out, err := openAppending(path, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	f.out = out
	return f, nil
}

// openAppending waits for nobody: a FIFO that nobody reads is an error.
func openAppending(path string, how int) (*os.File, error) {
	return os.OpenFile(path, os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK|how, fileMode)
}

// Write takes whole lines, after those that wait. It never fails: what is not written waits, or is lost.
func (f *file) Write(lines []byte) (int, error) {
	f.writing.Add(count(lines))
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	defer f.writing.Add(-count(lines))
	known := f.failing != nil
	stuck := time.AfterFunc(patience, func() {
		if !known {
			f.tell(errStuck)
		}
	})
	n := len(lines)
	if len(f.kept) > 0 {
		lines = f.keep(lines)
	}
	err := f.append(lines)
	if !stuck.Stop() && !known {
		f.failing = errStuck // it was told
	}
	f.note(err)
	return n, nil
}

func count(lines []byte) int64 { return int64(bytes.Count(lines, []byte("\n"))) }

// lose counts lines that are lost.
func (f *file) lose(n int64) {
	f.lost.Add(context.Background(), n)
	f.missing.Add(n)
}

// keep returns what waits, lines included as far as there is room.
func (f *file) keep(lines []byte) []byte {
	if len(f.kept)+len(lines) > mostKept {
		f.lose(count(lines))
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
		_ = f.out.SetWriteDeadline(time.Now().Add(writeTime)) // where none can be set there is none
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
	next, err := openAppending(f.path, os.O_CREATE)
	if err != nil {
		return err
	}
	if f.out != nil {
		_ = f.out.Close()
	}
	f.out, f.begun = next, 0
	return nil
}

// tell tells that the file begins to fail.
func (f *file) tell(err error) {
	f.log.Error("the audit log cannot be written, lines are kept for now", "file", f.path, "error", err)
}

// note tells of a change, and has what is kept be tried again.
func (f *file) note(err error) {
	switch {
	case err != nil && f.failing == nil:
		f.tell(err)
	case err == nil && f.failing != nil:
		f.log.Info("the audit log is written again", "file", f.path, "lost", f.missing.Swap(0))
	}
	if f.failing = err; err != nil {
		f.retry.Reset(retryEvery)
	}
}

// close closes the file, unless that hangs until ctx ends. What is kept still is lost, and so are so many lines that wait for it.
func (f *file) close(ctx context.Context, waiting int64) {
	f.retry.Stop()
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		f.tellLost(f.writing.Load() + waiting)
		return
	}
	if len(f.kept) > 0 {
		f.note(f.append(f.kept))
		f.retry.Stop()
	}
	if f.failing != nil || waiting > 0 {
		f.tellLost(count(f.kept) + waiting)
	}
	if f.out != nil {
		_ = f.out.Close()
	}
}

// tellLost tells how many lines are lost, these among them.
func (f *file) tellLost(more int64) {
	if n := f.missing.Load() + more; n > 0 {
		f.log.Error("lines of the audit log are lost", "file", f.path, "lines", n)
	}
}
