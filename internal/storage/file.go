package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
)

// fileEngine is the Engine in a file that one process holds. Reads go to the file's
// map in memory; writes go through a committer.
type fileEngine struct {
	db      *bbolt.DB
	commits *committer
	notices switchboard // a file belongs to one process
}

// newFileEngine opens the file of t, or makes it.
func newFileEngine(ctx context.Context, t target, opts Options, h *health) (*fileEngine, error) {
	db, err := openFile(ctx, t.file, opts)
	if err != nil {
		return nil, fmt.Errorf("storage: %s: %w", t.name, err)
	}
	return &fileEngine{db: db, commits: newCommitter(db, h)}, nil
}

func (e *fileEngine) Get(_ context.Context, key string) (record Record, err error) {
	var standing fileRecord
	found := false
	err = guarded(func() error {
		return e.db.View(func(tx *bbolt.Tx) (err error) {
			standing, found, err = findRecord(tx, key, time.Now())
			return err
		})
	})
	switch {
	case err != nil:
		return Record{}, fileFault(opGet, err)
	case !found:
		return Record{}, ErrNotFound
	}
	return standing.Record, nil
}

func (e *fileEngine) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (Record, bool, error) {
	value = bytes.Clone(value)
	var standing Record
	var created bool
	err := e.write(ctx, opPutIfAbsent, key, func(tx *bbolt.Tx, now time.Time) (_ bool, err error) {
		found, ok, err := findRecord(tx, key, now)
		standing, created = found.Record, err == nil && !ok
		if created {
			standing, err = writeRecord(tx, key, value, now, ttl)
		}
		return created, err
	})
	if err != nil {
		return Record{}, false, err
	}
	return standing, created, nil
}

func (e *fileEngine) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (Record, error) {
	value = bytes.Clone(value)
	var record Record
	var lost error
	err := e.write(ctx, opSwap, key, func(tx *bbolt.Tx, now time.Time) (bool, error) {
		found, ok, err := findRecord(tx, key, now)
		record, lost = found.Record, nil
		switch {
		case err != nil:
			return false, err
		case !ok:
			lost = ErrNotFound
		case found.Version != version:
			lost = ErrConflict
		default:
			record, err = writeRecord(tx, key, value, now, ttl)
			return true, err
		}
		return false, nil
	})
	if err != nil {
		return Record{}, err
	}
	return record, lost
}

func (e *fileEngine) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	value = bytes.Clone(value)
	return e.write(ctx, opPut, key, func(tx *bbolt.Tx, now time.Time) (bool, error) {
		_, err := writeRecord(tx, key, value, now, ttl)
		return true, err
	})
}

func (e *fileEngine) Delete(ctx context.Context, key string) error {
	return e.write(ctx, opDelete, key, removeRecord(key))
}

// Ping implements Engine. A full disk does not fail it: reads are served.
func (e *fileEngine) Ping(context.Context) error {
	return fileFault(opPing, guarded(func() error { return e.db.View(func(*bbolt.Tx) error { return nil }) }))
}

// Close implements Engine. It waits for the commit under way.
func (e *fileEngine) Close() error {
	if whole := e.commits.close(); !whole {
		// bbolt still holds its locks after a panic. The process's end frees the file.
		return nil
	}
	return e.db.Close()
}

// write hands change to the committer, which may still run it when the caller has left:
// what change captures is read only if write returns nil.
func (e *fileEngine) write(ctx context.Context, op, key string, change func(*bbolt.Tx, time.Time) (bool, error)) error {
	if len(key) == 0 || len(key) > bbolt.MaxKeySize {
		return &fault{op: op, reason: reasonOther, detail: "no key of this length can be kept", refusal: true}
	}
	err := e.commits.do(ctx, change)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("storage: %s: %w", op, err)
	}
	return fileFault(op, err)
}

// fileFault words an error of the file as Engine promises. Each is a refusal: what
// cannot be written, or not be read, says nothing about what else is in the file.
func fileFault(op string, err error) error {
	if err == nil {
		return nil
	}
	f := &fault{op: op, reason: reasonDisk, detail: err.Error(), refusal: true}
	switch {
	case errors.Is(err, errCorrupt):
		f.reason = reasonCorrupt
	case errors.Is(err, context.DeadlineExceeded):
		f.reason, f.deadline = reasonTimeout, context.DeadlineExceeded
	}
	return f
}

// guarded runs f and makes errors of what bbolt says by panicking, and of the fault
// that a page of the map which the disk cannot give back raises.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errCorrupt, v)
		}
	}()
	return f()
}
