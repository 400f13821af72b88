package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// inspectFile locks the file while it is read: a berth that starts meanwhile waits for it.
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
