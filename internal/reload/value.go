// Package reload keeps what was read from files, and reads it anew when they change.
//
// What is in use was whole and good when it was read: a file that is gone, half
// written or wrong leaves what was there before in use, which is logged once, counted,
// and told until it is mended. Files that belong together, as a certificate and its
// key do, are read and judged together.
//
// Files are compared by what they hold and not by their time: they are small, and a
// time says little where files are put in place by a link or copied with their times.
// A change is seen within [Every].
package reload

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/filetext"
	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	Every   = 5 * time.Second // how often files are read
	MaxFile = 1 << 20         // the size of the largest file that is read, in bytes
)

// File is one file to read.
type File struct {
	Key  string // the configuration's key that names the file; errors begin with it
	Path string // where the file lies
}

// Options say what [Open] reads. Only Files is required.
type Options struct {
	What   string               // names the thing in logs and metrics: "tls"
	Files  []File               // read together, in this order
	Logger *slog.Logger         // hears of each change, good or bad. Nil: nobody does.
	Meter  metric.MeterProvider // counts readings of changed files. Nil: nobody does.
}

// Error says why files cannot be used.
type Error struct {
	Key string // the configuration's, of a file at fault: one of them, where they do not fit together
	Err error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Value is what was last read and found good. Without [Value.Run] it stays what it is. Its methods
// may be called concurrently.
type Value[T any] struct {
	options Options
	parse   func(contents [][]byte) (T, error)
	reloads series.Outcomes
	now     atomic.Pointer[T]

	mu    sync.Mutex // guards the fields below
	seen  string     // digest, or error, of the last reading
	fault error
	since time.Time
}

// Open reads the files and makes a value of their contents. Of files that cannot be read it tells each. The errors of
// parse must not repeat the contents.
func Open[T any](o Options, parse func(contents [][]byte) (T, error)) (*Value[T], error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	v := &Value[T]{options: o, parse: parse}
	var value T
	contents, faults := readAll(o.Files)
	err := Join(faults...)
	if err == nil {
		value, err = v.make(contents)
	}
	if err != nil {
		return nil, err
	}
	v.now.Store(&value)
	v.seen = digest(contents)
	v.reloads = series.NewOutcomes(series.Meter(o.Meter, "berth/reload"), "berth.reloads",
		"Changed files that were read anew.", attribute.String("what", o.What))
	return v, nil
}

// Get returns the value in use.
func (v *Value[T]) Get() T { return *v.now.Load() }

// Fault tells why the files as they are cannot be used, and since when; nil if they are in use.
func (v *Value[T]) Fault() (since time.Time, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.since, v.fault
}

// Run reads the files anew until ctx ends. It returns nil. A disk that does not answer then is not waited for.
func (v *Value[T]) Run(ctx context.Context) error {
	ticker := time.NewTicker(Every)
	defer ticker.Stop()
	read := make(chan struct{}, 1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		go func() {
			v.reload()
			read <- struct{}{}
		}()
		select {
		case <-ctx.Done():
			return nil
		case <-read:
		}
	}
}

func (v *Value[T]) reload() {
	contents, faults := readAll(v.options.Files)
	seen, err := digest(contents), error(nil)
	if len(faults) > 0 {
		err = faults[0]
		seen = err.Error()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if seen == v.seen {
		return
	}
	v.seen = seen
	var value T
	if err == nil {
		value, err = v.make(contents)
	}
	v.reloads.Count(err)
	v.fault, v.since = err, time.Now()
	if err != nil {
		v.options.Logger.Warn("files changed and cannot be used, what was read before stays", "what", v.options.What, "error", err)
		return
	}
	v.now.Store(&value)
	v.options.Logger.Info("files changed and are in use", "what", v.options.What)
}

func (v *Value[T]) make(contents [][]byte) (T, error) {
	value, err := v.parse(contents)
	if err != nil {
		names := make([]string, len(v.options.Files))
		for i, f := range v.options.Files {
			names[i] = f.Key + " " + f.Path
		}
		err = &Error{v.options.Files[0].Key, fmt.Errorf("reading %s: %w", strings.Join(names, ", "), err)}
	}
	return value, err
}

func readAll(files []File) (contents [][]byte, faults []error) {
	contents = make([][]byte, len(files))
	for i, file := range files {
		content, err := read(file.Path)
		if err != nil {
			faults = append(faults, &Error{file.Key, fmt.Errorf("reading %s: %w", file.Key, err)})
		}
		contents[i] = content
	}
	return contents, faults
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(content) > MaxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, MaxFile)
	}
	return filetext.Of(content), err
}

// digest tells one reading from another without keeping it: a key is among what is read.
func digest(contents [][]byte) string {
	sum := sha256.New()
	for _, content := range contents {
		one := sha256.Sum256(content)
		sum.Write(one[:])
	}
	return string(sum.Sum(nil))
}
