// Package boltcheck tells whether a file is a whole bbolt database.
//
// bbolt trusts its file: a page that was overwritten or cut off makes it panic, run in circles, read
// beyond its map, or find less than was written. So does its own Tx.Check: of 250 files with eight
// bytes changed in the head of one page, 14 ended the process and 6 hung (1.5.0). Check reads every
// page that can be reached, believes nothing it reads, and names the first thing that is wrong, so
// that a file which passes can be opened without harm.
//
// It promises that the tree is whole: all pages are there and of their kind, each is
// reached once, none of them is on the list of free pages, keys are in order. bbolt
// keeps no checksums of what lies in the pages; whoever writes values must.
//
// It costs one reading of the file, and a byte of memory for each page.
package boltcheck

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrDamaged is what every fault of a file is, by errors.Is.
var ErrDamaged = errors.New("the file is damaged")

// Visit is called for each value, in the order of the keys of each bucket; bucket is the innermost
// one's name. The slices are valid during the call. An error ends the check.
type Visit func(bucket, key, value []byte) error

// Check reads the database of size bytes in r, which nobody may write to meanwhile. stale says that
// the newest of bbolt's two states cannot be read, so that the one before counts. Errors are
// ErrDamaged, visit's, or r's.
func Check(r io.ReaderAt, size int64, visit Visit) (stale bool, err error) {
	state, stale, err := newestMeta(r, size)
	if err != nil {
		return false, err
	}
	pageSize := uint64(state.PageSize)
	if there := uint64(size) / pageSize; state.Pages > there {
		return false, damaged("it ends at %d bytes, %d pages of %d are missing", size, state.Pages-there, pageSize)
	}
	w := &walker{r: r, pageSize: pageSize, visit: visit, seen: make([]bool, state.Pages)}
	w.mark(0, 2)
	if err := w.freelist(state.Freelist); err != nil {
		return false, err
	}
	return stale, w.tree(state.Root, nil, nil, nil, 0)
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

// order is how bbolt writes numbers: as the machine does.
var order = binary.NativeEndian
