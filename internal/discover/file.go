package discover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"berth/internal/filetext"
)

const (
	fileEvery = time.Second // how often a file is read
	maxFile   = 1 << 20     // the size of the largest file, in bytes
)

// File tells what a file lists, as [Parse] reads it. The file is read each second and compared by
// what it holds, so it may be written anew, renamed into place, or be a link that is swapped.
type File struct {
	Path     string
	Template URLTemplate // of instances that the file gives an address of
}

// String names the file.
func (f *File) String() string { return "file " + f.Path }

// Watch implements [Source]. It tells what changed.
func (f *File) Watch(ctx context.Context, tell func([]Instance, error)) {
	var last reading
	poll(ctx, func(context.Context) ([]Instance, time.Duration, error) {
		now := f.read()
		if !now.same(last) {
			now.list, now.err = f.judge(now)
			last = now
		}
		return last.list, fileEvery, last.err
	}, tell)
}

// reading is what a file held, or why it could not be read.
type reading struct {
	content []byte
	refused error

	list []Instance
	err  error
}

func (r reading) same(last reading) bool {
	if r.refused != nil || last.refused != nil {
		return r.refused != nil && last.refused != nil && r.refused.Error() == last.refused.Error()
	}
	return last.content != nil && bytes.Equal(r.content, last.content)
}

func (f *File) read() reading {
	// To open a pipe may take for ever, and the file that follows would never be read.
	if kind, err := os.Stat(f.Path); err != nil {
		return reading{refused: err}
	} else if !kind.Mode().IsRegular() {
		return reading{refused: errors.New("is no regular file")}
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return reading{refused: err}
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return reading{refused: err}
	case len(content) > maxFile:
		return reading{refused: errors.New("is larger than 1 MiB")}
	}
	return reading{content: filetext.Of(content)}
}

func (f *File) judge(now reading) ([]Instance, error) {
	err := now.refused
	var list []Instance
	if err == nil {
		list, err = Parse(now.content, f.Template)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Path, err)
	}
	return list, nil
}
