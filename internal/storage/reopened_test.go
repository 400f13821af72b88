package storage_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"berth/internal/storage"
)

// reopened is a store in a file that is opened anew for every operation: nothing of it
// outlives one but what is in the file.
type reopened struct {
	t   *testing.T
	url string

	mu     sync.Mutex // guards the field below, and the file
	closed bool
}

// with runs f on the store, freshly opened.
func (r *reopened) with(f func(s *storage.Store) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := storage.Open(r.url, storage.Options{})
	if err != nil {
		return err
	}
	defer func() {
		if err := s.Close(); err != nil {
			r.t.Errorf("Close: %v", err)
		}
	}()
	if r.closed {
		_ = s.Close() // the contract wants to hear what a closed one says
	}
	return f(s)
}

func (r *reopened) Get(ctx context.Context, key string) (record storage.Record, err error) {
	err = r.with(func(s *storage.Store) (err error) {
		record, err = s.Get(ctx, key)
		return err
	})
	return record, err
}

func (r *reopened) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (standing storage.Record, created bool, err error) {
	err = r.with(func(s *storage.Store) (err error) {
		standing, created, err = s.PutIfAbsent(ctx, key, value, ttl)
		return err
	})
	return standing, created, err
}

func (r *reopened) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (record storage.Record, err error) {
	err = r.with(func(s *storage.Store) (err error) {
		record, err = s.Swap(ctx, key, version, value, ttl)
		return err
	})
	return record, err
}

func (r *reopened) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return r.with(func(s *storage.Store) error { return s.Put(ctx, key, value, ttl) })
}

func (r *reopened) Delete(ctx context.Context, key string) error {
	return r.with(func(s *storage.Store) error { return s.Delete(ctx, key) })
}

func (r *reopened) AddMember(ctx context.Context, list, member string, ttl time.Duration, most int) error {
	return r.with(func(s *storage.Store) error { return s.AddMember(ctx, list, member, ttl, most) })
}

func (r *reopened) KeepMembers(ctx context.Context, list string, members ...storage.Member) error {
	return r.with(func(s *storage.Store) error { return s.KeepMembers(ctx, list, members...) })
}

func (r *reopened) Listing(ctx context.Context, list string, most int) (listing storage.Listing, err error) {
	err = r.with(func(s *storage.Store) (err error) {
		listing, err = s.Listing(ctx, list, most)
		return err
	})
	return listing, err
}

func (r *reopened) Page(ctx context.Context, list, from string, most int) (page storage.Page, err error) {
	err = r.with(func(s *storage.Store) (err error) {
		page, err = s.Page(ctx, list, from, most)
		return err
	})
	return page, err
}

func (r *reopened) RemoveMember(ctx context.Context, list, member string) error {
	return r.with(func(s *storage.Store) error { return s.RemoveMember(ctx, list, member) })
}

func (r *reopened) Members(ctx context.Context, list string) (members []string, err error) {
	err = r.with(func(s *storage.Store) (err error) {
		members, err = s.Members(ctx, list)
		return err
	})
	return members, err
}

func (r *reopened) Notify(ctx context.Context, topic, message string) error {
	return r.with(func(s *storage.Store) error { return s.Notify(ctx, topic, message) })
}

// Watch is for those who hold a store open.
func (r *reopened) Watch(context.Context, string, func(string)) error { return errors.ErrUnsupported }

func (r *reopened) Now(ctx context.Context) (now time.Time, err error) {
	err = r.with(func(s *storage.Store) (err error) {
		now, err = s.Now(ctx)
		return err
	})
	return now, err
}

func (r *reopened) Ping(ctx context.Context) error {
	return r.with(func(s *storage.Store) error { return s.Ping(ctx) })
}

func (r *reopened) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}
