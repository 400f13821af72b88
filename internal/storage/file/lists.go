package file

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"berth/internal/storage/engine"

	"go.etcd.io/bbolt"
)

func (e *Engine) AddMember(ctx context.Context, list, member string, ttl time.Duration, most int) error {
	key := memberKey(list, member)
	var full error
	err := e.write(ctx, engine.OpAddMember, key, func(tx *bbolt.Tx, now time.Time) (bool, error) {
		full = nil
		before, err := members.load(tx, key)
		if err != nil || before != nil && before.live(now) {
			return false, err
		}
		if most > 0 {
			standing, err := liveMembers(tx, list, now)
			if err != nil {
				return false, err
			}
			if len(standing) >= most {
				full = engine.ErrFull
				return false, nil
			}
		}
		return true, enlist(tx, key, before, expiry(now, ttl))
	})
	if err != nil {
		return err
	}
	return full
}

func (e *Engine) KeepMembers(ctx context.Context, list string, kept ...engine.Member) error {
	if len(kept) == 0 {
		return nil
	}
	return e.write(ctx, engine.OpKeepMembers, listKey(list), func(tx *bbolt.Tx, now time.Time) (bool, error) {
		for _, member := range kept {
			key := memberKey(list, member.Name)
			before, err := members.load(tx, key)
			if err == nil {
				err = enlist(tx, key, before, expiry(now, member.Left))
			}
			if err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// enlist writes a member that expires then over what was of it.
func enlist(tx *bbolt.Tx, key []byte, before *record, expires int64) error {
	if err := forLists(tx); err != nil {
		return err
	}
	arrived, err := tx.Bucket(bucketMembers).NextSequence()
	if err != nil {
		return err
	}
	return members.put(tx, key, before, record{engine.Record{Version: arrived}, expires})
}

func (e *Engine) RemoveMember(ctx context.Context, list, member string) error {
	key := memberKey(list, member)
	return e.write(ctx, engine.OpRemoveMember, key, members.remove(key))
}

func (e *Engine) Members(_ context.Context, list string) (names []string, err error) {
	err = e.read(engine.OpMembers, func(tx *bbolt.Tx) error {
		standing, err := liveMembers(tx, list, time.Now())
		for _, m := range standing {
			names = append(names, m.name)
		}
		return err
	})
	return names, err
}

func (e *Engine) Listing(_ context.Context, list string, most int) (listing engine.Listing, err error) {
	err = e.read(engine.OpListing, func(tx *bbolt.Tx) error {
		now := time.Now()
		standing, err := liveMembers(tx, list, now)
		listing = engine.Listing{Size: len(standing)}
		for i, m := range standing {
			left := lifeLeft(m.until(), now)
			if listing.Last = max(listing.Last, left); i < most {
				listing.Members = append(listing.Members, engine.Member{Name: m.name, Left: left})
			}
		}
		return err
	})
	return listing, err
}

// Page implements Engine. Members come by their names: so they stand in the file.
func (e *Engine) Page(_ context.Context, list, from string, most int) (page engine.Page, err error) {
	err = e.read(engine.OpPage, func(tx *bbolt.Tx) error {
		page = engine.Page{}
		bucket := tx.Bucket(bucketMembers)
		if bucket == nil {
			return nil
		}
		now, prefix, cursor := time.Now(), listKey(list), bucket.Cursor()
		last, behind := strings.CutPrefix(from, behindName)
		if !behind {
			last = ""
		}
		for key, b := cursor.Seek(append(slices.Clone(prefix), last...)); bytes.HasPrefix(key, prefix); key, b = cursor.Next() {
			name := string(key[len(prefix):])
			if behind && name == last {
				continue
			}
			member, err := decode(key, b)
			if err != nil {
				return err
			}
			if !member.live(now) {
				continue
			}
			if len(page.Members) == most {
				page.Next = behindName + page.Members[most-1].Name
				return nil
			}
			page.Members = append(page.Members, engine.Member{Name: name, Left: lifeLeft(member.until(), now)})
		}
		return nil
	})
	return page, err
}

// behindName begins a place: that behind a member, whose name may be empty.
const behindName = "behind "

// listKey begins the keys of a list's members. It tells the name's length: no name begins another.
func listKey(list string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(list))), list...)
}

func memberKey(list, member string) []byte { return append(listKey(list), member...) }

type namedRecord struct {
	name string
	record
}

func liveMembers(tx *bbolt.Tx, list string, now time.Time) (standing []namedRecord, err error) {
	bucket := tx.Bucket(bucketMembers)
	if bucket == nil {
		return nil, nil
	}
	prefix, cursor := listKey(list), bucket.Cursor()
	for key, b := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, b = cursor.Next() {
		member, err := decode(key, b)
		if err != nil {
			return nil, err
		}
		if member.live(now) {
			standing = append(standing, namedRecord{string(key[len(prefix):]), member})
		}
	}
	slices.SortFunc(standing, func(a, b namedRecord) int {
		// Never, which is 0, is the largest number less one.
		return cmp.Or(cmp.Compare(uint64(a.expires)-1, uint64(b.expires)-1), cmp.Compare(a.Version, b.Version))
	})
	return standing, nil
}

// lifeLeft is how long what expires then is alive, at least the shortest life; 0: for good.
func lifeLeft(expires, now time.Time) time.Duration {
	if expires.IsZero() {
		return 0
	}
	return max(expires.Sub(now), time.Millisecond)
}
