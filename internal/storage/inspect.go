package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Finding is something that a store would meet if it were to serve now.
type Finding struct {
	// Text says what, in one line and without secrets.
	Text string

	// Warning: the store would keep its promises all the same.
	Warning bool
}

// Inspect looks at the store that url names as OpenContext would find it, and returns
// what would keep it from its promises, or could; nothing if all is well. It writes
// nothing: a file that does not exist is not made. ctx bounds the questions to a server,
// not the reading of a file.
func Inspect(ctx context.Context, url string, opts Options) []Finding {
	t, err := parseURL(url)
	if err != nil {
		return []Finding{{Text: err.Error()}}
	}
	durability, err := t.durability(opts.Durability)
	if err != nil {
		return []Finding{{Text: err.Error()}}
	}
	opts = opts.withDefaults()
	switch {
	case t.redis != nil:
		return inspectRedis(ctx, t, opts, durability)
	case t.file != "":
		return inspectFile(ctx, t, opts)
	}
	return nil
}

// inspectFile locks the file for as long as it takes to read it: a berth that starts
// meanwhile waits for the lock.
func inspectFile(ctx context.Context, t target, opts Options) []Finding {
	o := &opening{ctx: ctx, path: t.file, log: opts.Logger}
	var f *os.File
	err := guarded(func() (err error) {
		f, err = o.open(t.file, os.O_RDWR, fileMode)
		return err
	})
	switch {
	case errors.Is(err, errHeld):
		return []Finding{{Text: t.name + ": another process holds this file, a berth that serves from it most likely: it was not looked into", Warning: true}}
	case errors.Is(err, fs.ErrNotExist):
		err = writable(filepath.Dir(t.file))
	case err == nil:
		err = f.Close()
	}
	if err != nil {
		return []Finding{{Text: fmt.Sprintf("%s: %v", t.name, err)}}
	}
	if o.stale {
		return []Finding{{Text: t.name + ": " + staleFile, Warning: true}}
	}
	return nil
}
