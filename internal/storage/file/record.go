package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"berth/internal/storage/boltcheck"
	"berth/internal/storage/engine"

	"go.etcd.io/bbolt"
)

// The buckets of a file. The last two come with its first list: opening a file writes nothing.
var (
	bucketFormat     = []byte("berth")
	bucketRecords    = []byte("records")
	bucketExpiries   = []byte("expiries")
	bucketMembers    = []byte("members")
	bucketDepartures = []byte("departures")
)

// shelf is a bucket of records, beside one of their expiries, each followed by its key: the next
// one due is the first.
type shelf struct{ records, expiries []byte }

// A member of a list is a record without a value. Its version is its number in the order of
// arrival.
var (
	records = shelf{bucketRecords, bucketExpiries}
	members = shelf{bucketMembers, bucketDepartures}
)

// errCorrupt means that the file does not hold what was written to it.
var errCorrupt = boltcheck.ErrDamaged

// record is a record with its expiry, in milliseconds of the Unix epoch; 0 is never.
//
// It is kept as a checksum of all else and the key (4 bytes), the expiry and the version
// (8 bytes each, big-endian), and the value.
type record struct {
	engine.Record
	expires int64
}

const recordHead = 4 + 8 + 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (r record) encode(key []byte) []byte {
	b := make([]byte, recordHead, recordHead+len(r.Value))
	binary.BigEndian.PutUint64(b[4:], uint64(r.expires))
	binary.BigEndian.PutUint64(b[12:], r.Version)
	b = append(b, r.Value...)
	binary.BigEndian.PutUint32(b, checksum(key, b[4:]))
	return b
}

func checksum(key, rest []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, rest)
}

func decode(key, b []byte) (record, error) {
	if len(b) < recordHead || binary.BigEndian.Uint32(b) != checksum(key, b[4:]) {
		return record{}, fmt.Errorf("%w: the checksum of a record is wrong", errCorrupt)
	}
	return record{
		expires: int64(binary.BigEndian.Uint64(b[4:])),
		Record:  engine.Record{Version: binary.BigEndian.Uint64(b[12:]), Value: b[recordHead:]},
	}, nil
}

// until is when the record expires; zero: never.
func (r record) until() time.Time {
	if r.expires == 0 {
		return time.Time{}
	}
	return time.UnixMilli(r.expires)
}

func (r record) live(now time.Time) bool { return r.expires == 0 || now.UnixMilli() < r.expires }

func (s shelf) load(tx *bbolt.Tx, key []byte) (*record, error) {
	bucket := tx.Bucket(s.records)
	if bucket == nil {
		return nil, nil
	}
	b := bucket.Get(key)
	if b == nil {
		return nil, nil
	}
	record, err := decode(key, bytes.Clone(b)) // the map's bytes are good during tx only
	if err != nil {
		return nil, err
	}
	return &record, nil
}

func (s shelf) find(tx *bbolt.Tx, key []byte, now time.Time) (*record, error) {
	record, err := s.load(tx, key)
	if err != nil || record == nil || !record.live(now) {
		return nil, err
	}
	return record, nil
}

func (s shelf) put(tx *bbolt.Tx, key []byte, before *record, next record) error {
	if before != nil && before.expires != next.expires {
		if err := s.unschedule(tx, key, before.expires); err != nil {
			return err
		}
	}
	if next.expires != 0 && (before == nil || before.expires != next.expires) {
		if err := tx.Bucket(s.expiries).Put(expiryKey(next.expires, key), nil); err != nil {
			return err
		}
	}
	return tx.Bucket(s.records).Put(key, next.encode(key))
}

func (s shelf) remove(key []byte) change {
	return func(tx *bbolt.Tx, _ time.Time) (bool, error) {
		before, err := s.load(tx, key)
		if err != nil || before == nil {
			return false, err
		}
		if err := s.unschedule(tx, key, before.expires); err != nil {
			return false, err
		}
		return true, tx.Bucket(s.records).Delete(key)
	}
}

func (s shelf) unschedule(tx *bbolt.Tx, key []byte, expires int64) error {
	if expires == 0 {
		return nil
	}
	return tx.Bucket(s.expiries).Delete(expiryKey(expires, key))
}

func collect(tx *bbolt.Tx, now time.Time, limit int) (some bool, err error) {
	for _, s := range []shelf{records, members} {
		collected, err := s.collect(tx, now, limit)
		if err != nil {
			return some, err
		}
		some = some || collected
	}
	return some, nil
}

// collect: what lives longer by now has another entry; what is damaged stays, for who asks for it.
func (s shelf) collect(tx *bbolt.Tx, now time.Time, limit int) (some bool, err error) {
	schedule := tx.Bucket(s.expiries)
	if schedule == nil {
		return false, nil
	}
	var due [][]byte // not to be deleted under the cursor
	entries := schedule.Cursor()
	for entry, _ := entries.First(); entry != nil && len(due) < limit && isDue(entry, now); entry, _ = entries.Next() {
		due = append(due, bytes.Clone(entry))
	}
	for _, entry := range due {
		if err := schedule.Delete(entry); err != nil {
			return false, err
		}
		key := entry[min(8, len(entry)):]
		record, err := s.load(tx, key)
		if err != nil || record == nil || record.live(now) {
			continue
		}
		if err := tx.Bucket(s.records).Delete(key); err != nil {
			return false, err
		}
	}
	return len(due) > 0, nil
}

func expiryKey(expires int64, key []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(expires)), key...)
}

// isDue takes an entry that is none for due.
func isDue(entry []byte, now time.Time) bool {
	return len(entry) <= 8 || binary.BigEndian.Uint64(entry) <= uint64(now.UnixMilli())
}
