package boltcheck

import (
	"bytes"
	"io"
)

// Kinds of pages.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
)

// What bbolt puts before what.
const (
	headBytes    = 16 // of each page
	elementBytes = 16 // describe one key of a page
	bucketBytes  = 16 // of a bucket's value: its root page and a sequence number
)

const bucketFlag = 0x01

// deepest bounds the levels of a tree, buckets in buckets included; that of the largest file has
// six.
const deepest = 64

type walker struct {
	r        io.ReaderAt
	pageSize uint64
	visit    Visit
	seen     []bool // by page: free, or reached before
}

type page []byte

func (p page) kind() uint16 { return order.Uint16(p[8:]) }
func (p page) count() int   { return int(order.Uint16(p[10:])) }

type element struct {
	key, value []byte
	bucket     bool
	child      uint64 // of a branch
}

// mark notes n pages from id on, if all of them are there and none was noted before.
func (w *walker) mark(id, n uint64) bool {
	if pages := uint64(len(w.seen)); id >= pages || n > pages-id {
		return false
	}
	for i := range n {
		if w.seen[id+i] {
			return false
		}
		w.seen[id+i] = true
	}
	return true
}

func (w *walker) read(id uint64) (page, error) {
	if id >= uint64(len(w.seen)) {
		return nil, damaged("page %d is out of bounds", id)
	}
	head := make([]byte, headBytes)
	if _, err := w.r.ReadAt(head, int64(id*w.pageSize)); err != nil {
		return nil, err
	}
	extra := uint64(order.Uint32(head[12:]))
	if order.Uint64(head) != id || !w.mark(id, 1+extra) {
		return nil, damaged("page %d is overwritten, or used twice", id)
	}
	p := make(page, (1+extra)*w.pageSize)
	_, err := w.r.ReadAt(p, int64(id*w.pageSize))
	return p, err
}

// freelist notes the free pages: one that is in use as well would be written over.
func (w *walker) freelist(id uint64) error {
	if id == noFreelist {
		return nil
	}
	p, err := w.read(id)
	if err != nil {
		return err
	}
	ids, count := p[headBytes:], uint64(p.count())
	if count == 0xFFFF { // too many for the head: the first number says how many
		count, ids = order.Uint64(ids), ids[8:]
	}
	if p.kind() != freelistPage || count > uint64(len(ids)/8) {
		return damaged("page %d is no list of free pages, or a part of one", id)
	}
	for ; count > 0; count-- {
		if free := order.Uint64(ids); !w.mark(free, 1) {
			return damaged("page %d is free twice, or in use", free)
		}
		ids = ids[8:]
	}
	return nil
}

// tree checks the tree below page id, whose keys lie from low up to, but not including, high; nil
// is no bound.
func (w *walker) tree(id uint64, bucket, low, high []byte, depth int) error {
	p, err := w.read(id)
	if err != nil {
		return err
	}
	return w.elements(p, bucket, low, high, depth)
}

func (w *walker) elements(p page, bucket, low, high []byte, depth int) error {
	if p.kind() != branchPage && p.kind() != leafPage || p.kind() == branchPage && p.count() == 0 || depth > deepest {
		return damaged("page %d is no part of a tree", order.Uint64(p))
	}
	for i := range p.count() {
		e, ok := p.element(i)
		if !ok || len(e.key) == 0 || i == 0 && low != nil && bytes.Compare(e.key, low) < 0 || i > 0 && bytes.Compare(e.key, low) <= 0 ||
			high != nil && bytes.Compare(e.key, high) >= 0 {
			return damaged("the keys of page %d are empty, out of bounds or out of order", order.Uint64(p))
		}
		low = e.key
		if err := w.below(p, i, e, bucket, high, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) below(p page, i int, e element, bucket, high []byte, depth int) error {
	switch {
	case p.kind() == branchPage:
		if next, ok := p.element(i + 1); ok && i+1 < p.count() {
			high = next.key
		}
		return w.tree(e.child, bucket, e.key, high, depth+1)
	case e.bucket:
		return w.bucket(e, depth)
	}
	return w.visit(bucket, e.key, e.value)
}

// bucket checks a tree of its own or, while it is small, a page within the value.
func (w *walker) bucket(e element, depth int) error {
	if len(e.value) < bucketBytes {
		return damaged("a bucket has no root")
	}
	if root := order.Uint64(e.value); root != 0 {
		return w.tree(root, e.key, nil, nil, depth+1)
	}
	inline := page(e.value[bucketBytes:])
	if len(inline) < headBytes || inline.kind() != leafPage {
		return damaged("a bucket has no page")
	}
	return w.elements(inline, e.key, nil, nil, depth+1)
}

func (p page) element(i int) (e element, ok bool) {
	at := headBytes + i*elementBytes
	if at+elementBytes > len(p) {
		return element{}, false
	}
	b := p[at:]
	if p.kind() == branchPage {
		e.child = order.Uint64(b[8:])
		e.key, ok = cut(b, order.Uint32(b), order.Uint32(b[4:]))
		return e, ok
	}
	e.bucket = order.Uint32(b)&bucketFlag != 0
	pos, keyBytes, valueBytes := order.Uint32(b[4:]), order.Uint32(b[8:]), order.Uint32(b[12:])
	e.key, ok = cut(b, pos, keyBytes)
	if ok {
		e.value, ok = cut(b[pos:], keyBytes, valueBytes)
	}
	return e, ok
}

func cut(b []byte, pos, n uint32) ([]byte, bool) {
	if uint64(pos)+uint64(n) > uint64(len(b)) {
		return nil, false
	}
	return b[pos : pos+n], true
}
