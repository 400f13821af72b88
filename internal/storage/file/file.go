// Package file is the engine of a store in a file (bbolt) that one process holds. A write is answered when it is on the disk.
//
//	file.go       the engine; reads, and writes of one record
//	write.go      several writes in one commit
//	lists.go      lists
//	record.go     records as the file keeps them, with their expiries
//	buckets.go    what the file has beside them: its format, and what it lacks
//	committer.go  one commit for the writes of one moment; what expired is removed
//	open.go       the lock, and the check of all that the file holds
//	unix.go, other.go  the lock, by system
//	inspect.go    what opening the file would find
//	url.go        the path in a URL
package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"berth/internal/storage/engine"
	"berth/internal/storage/health"
	"berth/internal/storage/localbus"

	"go.etcd.io/bbolt"
)

// Engine is the Engine in a file that one process holds. Reads go to the file's map in memory.
type Engine struct {
	localbus.Bus // a file belongs to one process

	db      *bbolt.DB
	commits *committer
}

// Options are the settings of an engine beside its path.
type Options struct {
	Wait time.Duration // for the process that holds the file. Zero: not at all
	Log  *slog.Logger  // hears of what a file holds
}

// Open opens the file at path, or makes it, and tells h whether it can be written.
func Open(ctx context.Context, path string, opts Options, h *health.Monitor) (*Engine, error) {
	db, err := openFile(ctx, path, opts)
	if err != nil {
		return nil, fmt.Errorf("storage: file:%s: %w", path, err)
	}
	return &Engine{db: db, commits: newCommitter(db, h)}, nil
}

func (e *Engine) Get(_ context.Context, key string) (engine.Record, error) {
	var standing *record
	err := e.read(engine.OpGet, func(tx *bbolt.Tx) (err error) {
		standing, err = records.find(tx, []byte(key), time.Now())
		return err
	})
	switch {
	case err != nil:
		return engine.Record{}, err
	case standing == nil:
		return engine.Record{}, engine.ErrNotFound
	}
	return standing.Record, nil
}

func (e *Engine) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (standing engine.Record, created bool, err error) {
	next := newUpdate(key, value, ttl)
	err = e.write(ctx, engine.OpPutIfAbsent, next.key, func(tx *bbolt.Tx, now time.Time) (bool, error) {
		before, err := records.load(tx, next.key)
		if err != nil || before != nil && before.live(now) {
			next.standing, next.done = before, false
			return false, err
		}
		return next.put(tx, before, now)
	})
	if err != nil {
		return engine.Record{}, false, err
	}
	return next.standing.Record, next.done, nil
}

func (e *Engine) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (engine.Record, error) {
	next := newUpdate(key, value, ttl)
	err := e.write(ctx, engine.OpSwap, next.key, func(tx *bbolt.Tx, now time.Time) (bool, error) {
		before, err := records.find(tx, next.key, now)
		if err != nil || before == nil || before.Version != version {
			next.standing, next.done = before, false
			return false, err
		}
		return next.put(tx, before, now)
	})
	switch {
	case err != nil:
		return engine.Record{}, err
	case next.standing == nil:
		return engine.Record{}, engine.ErrNotFound
	case !next.done:
		return next.standing.Record, engine.ErrConflict
	}
	return next.standing.Record, nil
}

func (e *Engine) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	next := newUpdate(key, value, ttl)
	return e.write(ctx, engine.OpPut, next.key, func(tx *bbolt.Tx, now time.Time) (bool, error) {
		before, err := records.load(tx, next.key)
		if err != nil {
			return false, err
		}
		return next.put(tx, before, now)
	})
}

type update struct {
	key, value []byte
	ttl        time.Duration

	standing *record // at the end; nil: none
	done     bool
}

func newUpdate(key string, value []byte, ttl time.Duration) *update {
	return &update{key: []byte(key), value: bytes.Clone(value), ttl: ttl}
}

func (u *update) put(tx *bbolt.Tx, before *record, now time.Time) (bool, error) {
	next := record{engine.Record{Value: u.value, Version: 1}, expiry(now, u.ttl)}
	if before != nil && before.live(now) {
		next.Version += before.Version
		if u.ttl == engine.KeepTTL {
			next.expires = before.expires
		}
	}
	u.standing, u.done = &next, true
	return true, records.put(tx, u.key, before, next)
}

func (e *Engine) Delete(ctx context.Context, key string) error {
	return e.write(ctx, engine.OpDelete, []byte(key), records.remove([]byte(key)))
}

func (e *Engine) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// Ping implements Engine. A full disk does not fail it: reads are served.
func (e *Engine) Ping(context.Context) error {
	return e.read(engine.OpPing, func(*bbolt.Tx) error { return nil })
}

// Close implements Engine. It waits for the commit under way.
func (e *Engine) Close() error {
	if whole := e.commits.close(); !whole {
		// bbolt still holds its locks after a panic. The process's end frees the file.
		return nil
	}
	return e.db.Close()
}

func (e *Engine) read(op string, f func(*bbolt.Tx) error) error {
	return fileFault(op, guarded(func() error { return e.db.View(f) }))
}

// write's change may still run when the caller has left: what it captures is read only without an error.
func (e *Engine) write(ctx context.Context, op string, key []byte, change change) error {
	if err := fits(op, key); err != nil {
		return err
	}
	return e.commit(ctx, op, change)
}

func fits(op string, key []byte) error {
	if len(key) == 0 || len(key) > bbolt.MaxKeySize {
		return &engine.Fault{Op: op, Reason: engine.ReasonOther, Detail: "no key of this length can be kept", Refusal: true}
	}
	return nil
}

func (e *Engine) commit(ctx context.Context, op string, change change) error {
	err := e.commits.do(ctx, change)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("storage: %s: %w", op, err)
	}
	return fileFault(op, err)
}

// fileFault words an error of the file. Each is a refusal: it says nothing about what else is in
// the file.
func fileFault(op string, err error) error {
	if err == nil {
		return nil
	}
	f := &engine.Fault{Op: op, Reason: engine.ReasonDisk, Detail: err.Error(), Refusal: true}
	switch {
	case errors.Is(err, errCorrupt):
		f.Reason = engine.ReasonCorrupt
	case errors.Is(err, context.DeadlineExceeded):
		f.Reason, f.Deadline = engine.ReasonTimeout, context.DeadlineExceeded
	}
	return f
}

func expiry(now time.Time, ttl time.Duration) int64 {
	if ttl <= 0 {
		return 0
	}
	return now.UnixMilli() + engine.Milliseconds(ttl)
}

// guarded makes errors of bbolt's panics, and of a page of the map that the disk cannot give back.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errCorrupt, v)
		}
	}()
	return f()
}
