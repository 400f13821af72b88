package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"berth/internal/storage/boltcheck"

	"go.etcd.io/bbolt"
)

// The buckets of a file. Records are kept under their keys. Expiries hold, for each
// record that expires, its expiry followed by its key: the next one due is the first.
var (
	bucketFormat   = []byte("berth")
	bucketRecords  = []byte("records")
	bucketExpiries = []byte("expiries")
)

// errCorrupt means that the file does not hold what was written to it.
var errCorrupt = boltcheck.ErrDamaged

// fileRecord is a record with its expiry, in milliseconds of the Unix epoch; 0 is never.
//
// It is kept as a checksum of all else and the key (4 bytes), the expiry and the version
// (8 bytes each, big-endian), and the value.
type fileRecord struct {
	Record
	expires int64
}

const recordHead = 4 + 8 + 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (r fileRecord) encode(key string) []byte {
	b := make([]byte, recordHead, recordHead+len(r.Value))
	binary.BigEndian.PutUint64(b[4:], uint64(r.expires))
	binary.BigEndian.PutUint64(b[12:], r.Version)
	b = append(b, r.Value...)
	binary.BigEndian.PutUint32(b, checksum(key, b[4:]))
	return b
}

func checksum(key string, rest []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(key), castagnoli), castagnoli, rest)
}

// decodeFile reads a record; its value aliases b.
func decodeFile(key string, b []byte) (fileRecord, error) {
	if len(b) < recordHead || binary.BigEndian.Uint32(b) != checksum(key, b[4:]) {
		return fileRecord{}, fmt.Errorf("%w: the checksum of a record is wrong", errCorrupt)
	}
	return fileRecord{
		expires: int64(binary.BigEndian.Uint64(b[4:])),
		Record:  Record{Version: binary.BigEndian.Uint64(b[12:]), Value: b[recordHead:]},
	}, nil
}

func (r fileRecord) live(now time.Time) bool { return r.expires == 0 || now.UnixMilli() < r.expires }

// loadRecord reads what is kept at key, expired or not.
func loadRecord(tx *bbolt.Tx, key string) (record fileRecord, found bool, err error) {
	b := tx.Bucket(bucketRecords).Get([]byte(key))
	if b == nil {
		return fileRecord{}, false, nil
	}
	record, err = decodeFile(key, b)
	record.Value = bytes.Clone(record.Value) // the map's bytes are good during tx only
	return record, err == nil, err
}

// findRecord returns the live record at key.
func findRecord(tx *bbolt.Tx, key string, now time.Time) (record fileRecord, found bool, err error) {
	record, found, err = loadRecord(tx, key)
	if !found || !record.live(now) {
		return fileRecord{}, false, err
	}
	return record, true, nil
}

// writeRecord gives key its next version. value must not change any more.
func writeRecord(tx *bbolt.Tx, key string, value []byte, now time.Time, ttl time.Duration) (Record, error) {
	before, found, err := loadRecord(tx, key)
	if err != nil {
		return Record{}, err
	}
	next := fileRecord{Record: Record{Value: value, Version: 1}}
	if found && before.live(now) {
		next.Version = before.Version + 1
	}
	switch {
	case ttl == KeepTTL && found && before.live(now):
		next.expires = before.expires
	case ttl > 0:
		next.expires = now.UnixMilli() + milliseconds(ttl)
	}
	if found && before.expires != next.expires {
		if err := unschedule(tx, key, before.expires); err != nil {
			return Record{}, err
		}
	}
	if next.expires != 0 && (!found || before.expires != next.expires) {
		if err := tx.Bucket(bucketExpiries).Put(expiryKey(next.expires, key), nil); err != nil {
			return Record{}, err
		}
	}
	return next.Record, tx.Bucket(bucketRecords).Put([]byte(key), next.encode(key))
}

// removeRecord returns the change that forgets key.
func removeRecord(key string) func(*bbolt.Tx, time.Time) (bool, error) {
	return func(tx *bbolt.Tx, _ time.Time) (bool, error) {
		before, found, err := loadRecord(tx, key)
		if err != nil || !found {
			return false, err
		}
		if err := unschedule(tx, key, before.expires); err != nil {
			return false, err
		}
		return true, tx.Bucket(bucketRecords).Delete([]byte(key))
	}
}

func unschedule(tx *bbolt.Tx, key string, expires int64) error {
	if expires == 0 {
		return nil
	}
	return tx.Bucket(bucketExpiries).Delete(expiryKey(expires, key))
}

// collect removes at most limit records, and as many members of lists, that have
// expired, and reports whether there was one.
func collect(tx *bbolt.Tx, now time.Time, limit int) (some bool, err error) {
	records, err := collectDue(tx.Bucket(bucketExpiries), now, limit, func(key []byte) error {
		record, found, err := loadRecord(tx, string(key))
		if err != nil || !found || record.live(now) {
			return nil // what is damaged stays, and is told to whoever asks for it
		}
		return tx.Bucket(bucketRecords).Delete(key)
	})
	departures := tx.Bucket(bucketDepartures)
	if err != nil || departures == nil {
		return records, err
	}
	members, err := collectDue(departures, now, limit, func(key []byte) error {
		member, found, err := loadMember(tx, key)
		if err != nil || !found || member.live(now) {
			return nil
		}
		return tx.Bucket(bucketMembers).Delete(key)
	})
	return records || members, err
}

// collectDue has forget forget the keys of a schedule's first entries that are due. What
// lives longer by now has another entry.
func collectDue(schedule *bbolt.Bucket, now time.Time, limit int, forget func(key []byte) error) (some bool, err error) {
	var due [][]byte // not to be deleted under the cursor
	entries := schedule.Cursor()
	for entry, _ := entries.First(); entry != nil && len(due) < limit && expired(entry, now); entry, _ = entries.Next() {
		due = append(due, bytes.Clone(entry))
	}
	for _, entry := range due {
		if err := schedule.Delete(entry); err != nil {
			return false, err
		}
		if err := forget(entry[min(8, len(entry)):]); err != nil {
			return false, err
		}
	}
	return len(due) > 0, nil
}

func expiryKey(expires int64, key string) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(expires)), key...)
}

// expired reports whether an entry is due; one that is none is due at once.
func expired(entry []byte, now time.Time) bool {
	return len(entry) <= 8 || binary.BigEndian.Uint64(entry) <= uint64(now.UnixMilli())
}
