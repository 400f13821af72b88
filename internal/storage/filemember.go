package storage

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// The buckets of lists. Members are kept under the name of their list and their own.
// Departures are to them what expiries are to records. A file that a berth without lists
// made has neither, and gets both with its first member: opening it writes nothing.
var (
	bucketMembers    = []byte("members")
	bucketDepartures = []byte("departures")
)

// fileMember is one member of a list.
//
// It is kept as a checksum of all else and the key (4 bytes), the expiry in milliseconds
// of the Unix epoch, 0 being never, and its number in the order of arrival (8 bytes
// each, big-endian).
type fileMember struct {
	name    string
	expires int64
	arrived uint64
}

const memberBytes = 4 + 8 + 8

// listKey begins the keys of a list's members. It tells the name's length, so that no
// name begins another.
func listKey(list string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(list))), list...)
}

func memberKey(list, member string) []byte { return append(listKey(list), member...) }

func (m fileMember) encode(key []byte) []byte {
	b := make([]byte, memberBytes)
	binary.BigEndian.PutUint64(b[4:], uint64(m.expires))
	binary.BigEndian.PutUint64(b[12:], m.arrived)
	binary.BigEndian.PutUint32(b, checksum(string(key), b[4:]))
	return b
}

// decodeMember reads a member, but for its name, which only its list can tell.
func decodeMember(key, b []byte) (fileMember, error) {
	if len(b) != memberBytes || binary.BigEndian.Uint32(b) != checksum(string(key), b[4:]) {
		return fileMember{}, fmt.Errorf("%w: the checksum of a list's member is wrong", errCorrupt)
	}
	return fileMember{
		expires: int64(binary.BigEndian.Uint64(b[4:])),
		arrived: binary.BigEndian.Uint64(b[12:]),
	}, nil
}

func (m fileMember) live(now time.Time) bool { return m.expires == 0 || now.UnixMilli() < m.expires }

// loadMember reads what is kept at key, expired or not.
func loadMember(tx *bbolt.Tx, key []byte) (member fileMember, found bool, err error) {
	members := tx.Bucket(bucketMembers)
	if members == nil {
		return fileMember{}, false, nil
	}
	b := members.Get(key)
	if b == nil {
		return fileMember{}, false, nil
	}
	member, err = decodeMember(key, b)
	return member, err == nil, err
}

// liveMembers reads the members of list that stand, in the order of Members.
func liveMembers(tx *bbolt.Tx, list string, now time.Time) ([]fileMember, error) {
	bucket := tx.Bucket(bucketMembers)
	if bucket == nil {
		return nil, nil
	}
	var standing []fileMember
	prefix, cursor := listKey(list), bucket.Cursor()
	for key, b := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, b = cursor.Next() {
		member, err := decodeMember(key, b)
		if err != nil {
			return nil, err
		}
		if member.live(now) {
			member.name = string(key[len(prefix):])
			standing = append(standing, member)
		}
	}
	slices.SortFunc(standing, func(a, b fileMember) int {
		// Never, which is 0, is the largest number less one.
		return cmp.Or(cmp.Compare(uint64(a.expires)-1, uint64(b.expires)-1), cmp.Compare(a.arrived, b.arrived))
	})
	return standing, nil
}

// writeMember makes a member, and what a file without lists lacks.
func writeMember(tx *bbolt.Tx, key []byte, now time.Time, ttl time.Duration) error {
	if err := forLists(tx); err != nil {
		return err
	}
	arrived, err := tx.Bucket(bucketMembers).NextSequence()
	if err != nil {
		return err
	}
	member := fileMember{arrived: arrived}
	if ttl > 0 {
		member.expires = now.UnixMilli() + milliseconds(ttl)
		if err := tx.Bucket(bucketDepartures).Put(expiryKey(member.expires, string(key)), nil); err != nil {
			return err
		}
	}
	return tx.Bucket(bucketMembers).Put(key, member.encode(key))
}

// removeMember forgets a member that was loaded.
func removeMember(tx *bbolt.Tx, key []byte, member fileMember) error {
	if member.expires != 0 {
		if err := tx.Bucket(bucketDepartures).Delete(expiryKey(member.expires, string(key))); err != nil {
			return err
		}
	}
	return tx.Bucket(bucketMembers).Delete(key)
}
