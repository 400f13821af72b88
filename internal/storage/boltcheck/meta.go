package boltcheck

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
)

const (
	magic      = 0xED0CDAED
	version    = 2
	metaBytes  = 64
	noFreelist = ^uint64(0)

	// The sizes of pages that bbolt looks for when its first page cannot be read.
	smallestPage, largestPage = 1 << 10, 1 << 24
)

type meta struct {
	Magic, Version, PageSize, Flags uint32

	Root     uint64 // page
	Sequence uint64
	Freelist uint64 // page, or noFreelist
	Pages    uint64 // all pages lie below this one
	TxID     uint64 // grows with each state
	Checksum uint64
}

// newestMeta returns the newest state that can be read; stale, if there should be a newer one.
func newestMeta(r io.ReaderAt, size int64) (newest meta, stale bool, err error) {
	first, err := readMeta(r, 0)
	if err != nil {
		second, found := findSecond(r, size)
		if found {
			return second, true, nil
		}
		return meta{}, false, err
	}
	second, err := readMeta(r, int64(first.PageSize))
	switch {
	case err != nil:
		return first, true, nil
	case second.PageSize != first.PageSize:
		return meta{}, false, damaged("its two heads name different sizes of pages")
	case second.TxID > first.TxID:
		return second, false, nil
	}
	return first, false, nil
}

// findSecond looks for the second state where the first does not say the page size.
func findSecond(r io.ReaderAt, size int64) (second meta, found bool) {
	for at := int64(smallestPage); at <= min(largestPage, size); at *= 2 {
		if m, err := readMeta(r, at); err == nil && int64(m.PageSize) == at {
			return m, true
		}
	}
	return meta{}, false
}

func readMeta(r io.ReaderAt, at int64) (m meta, err error) {
	b := make([]byte, metaBytes)
	if _, err := r.ReadAt(b, at+headBytes); errors.Is(err, io.EOF) {
		return meta{}, damaged("it is too short for a database")
	} else if err != nil {
		return meta{}, err
	}
	if _, err := binary.Decode(b, order, &m); err != nil {
		return meta{}, err
	}
	sum := fnv.New64a()
	sum.Write(b[:metaBytes-8])
	switch {
	case m.Magic != magic || m.Version != version:
		return meta{}, damaged("it is no database, or its beginning is overwritten")
	case m.Checksum != sum.Sum64():
		return meta{}, damaged("the checksum of its head is wrong")
	case m.PageSize < smallestPage || m.PageSize > largestPage || m.PageSize&(m.PageSize-1) != 0:
		return meta{}, damaged("its pages have %d bytes", m.PageSize)
	}
	return m, nil
}
