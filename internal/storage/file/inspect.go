package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/storage/engine"
)

// Inspect locks the file while it is read: a berth that starts meanwhile waits for it.
func Inspect(ctx context.Context, path string, opts Options) []engine.Finding {
	o := &opening{ctx: ctx, path: path, log: opts.Log}
	var f *os.File
	err := guarded(func() (err error) {
		f, err = o.open(path, os.O_RDWR, fileMode)
		return err
	})
	switch {
	case errors.Is(err, errHeld):
		return []engine.Finding{{Text: "file:" + path + ": another process holds this file, a berth that serves from it most likely: it was not looked into", Warning: true}}
	case errors.Is(err, fs.ErrNotExist):
		err = writable(filepath.Dir(path))
	case err == nil:
		err = f.Close()
	}
	if err != nil {
		return []engine.Finding{{Text: fmt.Sprintf("file:%s: %v", path, err)}}
	}
	if o.stale {
		return []engine.Finding{{Text: "file:" + path + ": " + staleFile, Warning: true}}
	}
	return nil
}
