package file

import (
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"
)

// Versions of what a file holds. A berth refuses files of later ones than it knows.
const (
	plainFormat = 1 // of a file without lists, which berths of before lists may open
	fileFormat  = 2
)

var (
	keyFormat = []byte("format")
	keyTried  = []byte("tried") // stands while a full disk is tried
)

// Of a file of ours: the buckets that each has, and those that lists add.
var (
	buckets     = [][]byte{bucketFormat, bucketRecords, bucketExpiries}
	listBuckets = [][]byte{bucketMembers, bucketDepartures}
)

// prepare makes the buckets of a new file. An old one is not written to: it is opened on a full
// disk too.
func prepare(db *bbolt.DB) error {
	var there, lists int
	err := db.View(func(tx *bbolt.Tx) error {
		there, lists = countBuckets(tx, buckets), countBuckets(tx, listBuckets)
		return nil
	})
	whole := lists == 0 || lists == len(listBuckets)
	switch {
	case err != nil || whole && there == len(buckets):
		return err
	case there > 0 || !whole:
		return fmt.Errorf("%w: it lacks a part", errCorrupt)
	}
	return db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return writeFormat(tx, plainFormat)
	})
}

func countBuckets(tx *bbolt.Tx, names [][]byte) (there int) {
	for _, name := range names {
		if tx.Bucket(name) != nil {
			there++
		}
	}
	return there
}

// forLists makes the buckets of lists if there are none, and tells berths that do not know them.
func forLists(tx *bbolt.Tx) error {
	if tx.Bucket(bucketMembers) != nil {
		return nil
	}
	for _, name := range listBuckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return writeFormat(tx, fileFormat)
}

func writeFormat(tx *bbolt.Tx, format int64) error {
	return tx.Bucket(bucketFormat).Put(keyFormat, strconv.AppendInt(nil, format, 10))
}

func checkFormat(value []byte) error {
	format, err := strconv.Atoi(string(value))
	switch {
	case err != nil || format < 1:
		return fmt.Errorf("%w: its format is no number", errCorrupt)
	case format > fileFormat:
		return fmt.Errorf("a newer berth wrote it, in format %d; this one knows formats up to %d", format, fileFormat)
	}
	return nil
}
