package boltcheck

import (
	"errors"
	"hash/fnv"
	"io"
)

const (
	magic      = 0xED0CDAED
	version    = 2
	metaBytes  = 64
	headBytes  = 16 // of each page
	noFreelist = ^uint64(0)

	// The sizes of pages that bbolt looks for when its first page cannot be read.
	smallestPage, largestPage = 1 << 10, 1 << 24
)

// meta is one of the two states that a file can be in: bbolt writes them in turn.
type meta struct {
	pageSize uint64
	root     uint64 // page
	freelist uint64 // page, or noFreelist
	pages    uint64 // all pages lie below this one
	txid     uint64 // grows with each state
}

// newestMeta returns the newest state that can be read. stale says that there should be
// a newer one.
func newestMeta(r io.ReaderAt, size int64) (newest meta, stale bool, err error) {
	first, firstErr := readMeta(r, 0)
	pageSize := int64(first.pageSize)
	if firstErr != nil {
		pageSize = findSecond(r, size)
	}
	second, secondErr := readMeta(r, pageSize)
	switch {
	case firstErr != nil && secondErr != nil:
		return meta{}, false, firstErr
	case firstErr != nil:
		return second, true, nil
	case secondErr != nil:
		return first, true, nil
	case second.pageSize != first.pageSize:
		return meta{}, false, damaged("its two heads name different sizes of pages")
	case second.txid > first.txid:
		return second, false, nil
	}
	return first, false, nil
}

// findSecond looks for the second state where the first does not say the page size.
func findSecond(r io.ReaderAt, size int64) int64 {
	for pageSize := int64(smallestPage); pageSize <= min(largestPage, size); pageSize *= 2 {
		if m, err := readMeta(r, pageSize); err == nil && m.pageSize == uint64(pageSize) {
			return pageSize
		}
	}
	return smallestPage
}

// readMeta reads the state in the page at an offset.
func readMeta(r io.ReaderAt, at int64) (meta, error) {
	b := make([]byte, metaBytes)
	if _, err := r.ReadAt(b, at+headBytes); errors.Is(err, io.EOF) {
		return meta{}, damaged("it is too short for a database")
	} else if err != nil {
		return meta{}, err
	}
	if order.Uint32(b) != magic || order.Uint32(b[4:]) != version {
		return meta{}, damaged("it is no database, or its beginning is overwritten")
	}
	sum := fnv.New64a()
	sum.Write(b[:metaBytes-8])
	if sum.Sum64() != order.Uint64(b[metaBytes-8:]) {
		return meta{}, damaged("the checksum of its head is wrong")
	}
	m := meta{
		pageSize: uint64(order.Uint32(b[8:])),
		root:     order.Uint64(b[16:]),
		freelist: order.Uint64(b[32:]),
		pages:    order.Uint64(b[40:]),
		txid:     order.Uint64(b[48:]),
	}
	if m.pageSize < smallestPage || m.pageSize > largestPage || m.pageSize&(m.pageSize-1) != 0 {
		return meta{}, damaged("its pages have %d bytes", m.pageSize)
	}
	return m, nil
}
