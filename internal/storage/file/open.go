package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/storage/boltcheck"

	"go.etcd.io/bbolt"
)

// fileMode lets nobody else read who owns what.
const fileMode = 0o600

const lockPoll = 50 * time.Millisecond

type opening struct {
	ctx  context.Context // of Open: it ends the wait for the lock
	path string
	wait time.Duration
	log  *slog.Logger

	stale bool        // found by check: the newest state cannot be read
	fresh os.FileInfo // of a file without a byte, which is to become one of ours; nil: it was one
}

var (
	errLocked = errors.New("storage: another process holds the lock")
	errHeld   = errors.New("another berth holds this file")
	// errStranger: the bucket with the format is the first of a file of ours.
	errStranger = errors.New("it is a database of another program")
)

const staleFile = "the newest state of the store's file cannot be read, the one before it counts: the last writes may be lost"

// openFile opens or makes the file at path once no other process holds it, and believes nothing
// unchecked.
func openFile(ctx context.Context, path string, opts Options) (*bbolt.DB, error) {
	o := &opening{ctx: ctx, path: path, wait: opts.Wait, log: opts.Log}
	var db *bbolt.DB
	err := guarded(func() (err error) {
		db, err = bbolt.Open(path, fileMode, &bbolt.Options{
			OpenFile: o.open,
			// bbolt asks for the lock again, on a file that is locked by then.
			Timeout: lockPoll,
			// A list of free pages that is kept makes opening, and giving up a commit, cheap.
			FreelistType: bbolt.FreelistMapType,
			NoStatistics: true,
		})
		return err
	})
	if err != nil {
		return nil, errors.Join(err, o.undo())
	}
	if err := guarded(func() error { return prepare(db) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (o *opening) open(path string, flag int, mode os.FileMode) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, flag, mode)
		if err != nil {
			directory := filepath.Dir(path)
			if _, missing := os.Stat(directory); errors.Is(missing, fs.ErrNotExist) {
				err = fmt.Errorf("there is no directory %s", directory)
			}
			return nil, err
		}
		current, err := o.admit(f)
		if current && err == nil {
			return f, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// admit locks f and checks it. Unless current, no file or another lies at its path by then.
func (o *opening) admit(f *os.File) (current bool, err error) {
	if err := o.lock(f); err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, errors.New("it is no regular file")
	}
	there, err := os.Stat(o.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(there, info) {
		return false, nil
	}
	if err == nil && info.Size() == 0 {
		o.fresh = info
		return true, syncDirectory(o.path)
	}
	if err == nil {
		err = o.check(f, info.Size())
	}
	return true, err
}

// undo empties a file again that could not be made: a disk that was full has a part of it, which is none of a damaged one. What
// another process has made of it meanwhile stays.
func (o *opening) undo() error {
	if o.fresh == nil {
		return nil
	}
	f, err := os.OpenFile(o.path, os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	defer f.Close()
	there, err := f.Stat()
	if err != nil || !os.SameFile(there, o.fresh) || lockFile(f) != nil {
		return err
	}
	if err := o.check(f, there.Size()); errors.Is(err, errCorrupt) {
		return f.Truncate(0)
	}
	return nil
}

// syncDirectory makes the name of a new file as durable as what will be in it.
func syncDirectory(path string) error {
	directory, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// lock waits for the process that holds the file, which may be a berth that drains.
func (o *opening) lock(f *os.File) error {
	deadline := time.NewTimer(o.wait)
	defer deadline.Stop()
	poll := time.NewTicker(lockPoll)
	defer poll.Stop()
	for waited := false; ; waited = true {
		if err := lockFile(f); !errors.Is(err, errLocked) {
			return err
		}
		if !waited && o.wait > 0 {
			o.log.Info("another berth holds the store's file, waiting for it to end", "path", o.path, "for", o.wait.String())
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			return fmt.Errorf("%w, and did not end within %v", errHeld, o.wait)
		case <-o.ctx.Done():
			return context.Cause(o.ctx)
		}
	}
}

func (o *opening) check(f *os.File, size int64) error {
	stranger := true
	stale, err := boltcheck.Check(f, size, func(bucket, key, value []byte) error {
		switch {
		case bytes.Equal(bucket, bucketFormat) && bytes.Equal(key, keyFormat):
			stranger = false
			return checkFormat(value)
		case stranger:
			return errStranger
		case bytes.Equal(bucket, bucketRecords), bytes.Equal(bucket, bucketMembers):
			_, err := decode(key, value)
			return err
		case !slices.ContainsFunc(slices.Concat(buckets, listBuckets), func(name []byte) bool { return bytes.Equal(name, bucket) }):
			return fmt.Errorf("%w: it holds a part that is none of a store's", errCorrupt)
		}
		return nil
	})
	if errors.Is(err, errCorrupt) {
		return fmt.Errorf("%w; put a copy in its place, or move it away to begin anew", err)
	}
	if err != nil {
		return err
	}
	if o.stale = stale; stale {
		o.log.Warn(staleFile, "path", o.path)
	}
	return nil
}
