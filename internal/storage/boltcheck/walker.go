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

// bucketFlag marks a leaf's element whose value is a bucket.
const bucketFlag = 0x01

// bucketBytes begin the value of a bucket: its root page and a sequence number.
const bucketBytes = 16

// elementBytes describe one key of a page.
const elementBytes = 16

// deepest bounds the levels of a tree, buckets in buckets included. A tree of the
// largest file that bbolt can map has six.
const deepest = 64

// walker reads a tree.
type walker struct {
	r     io.ReaderAt
	meta  meta
	visit Visit
	seen  []uint64 // a bit for each page: free, or reached before
}

// page is one page, with those that it overflows into.
type page struct {
	id    uint64
	kind  uint16
	count int
	data  []byte // from the head on
}

// element is one key of a page.
type element struct {
	key, value []byte
	bucket     bool
	child      uint64 // of a branch
}

// mark notes n pages from id on, and reports whether all of them are there and none
// was noted before.
func (w *walker) mark(id, n uint64) bool {
	if id >= w.meta.pages || n > w.meta.pages-id {
		return false
	}
	for ; n > 0; n-- {
		bit := uint64(1) << (id % 64)
		if w.seen[id/64]&bit != 0 {
			return false
		}
		w.seen[id/64] |= bit
		id++
	}
	return true
}

// read reads the page id.
func (w *walker) read(id uint64) (page, error) {
	if id >= w.meta.pages {
		return page{}, damaged("page %d is out of bounds", id)
	}
	head := make([]byte, headBytes)
	if err := w.readAt(head, id); err != nil {
		return page{}, err
	}
	extra := uint64(order.Uint32(head[12:]))
	if order.Uint64(head) != id || !w.mark(id, 1+extra) {
		return page{}, damaged("page %d is overwritten, or used twice", id)
	}
	p := page{id: id, kind: order.Uint16(head[8:]), count: int(order.Uint16(head[10:]))}
	p.data = make([]byte, (1+extra)*w.meta.pageSize)
	return p, w.readAt(p.data, id)
}

func (w *walker) readAt(b []byte, id uint64) error {
	_, err := w.r.ReadAt(b, int64(id*w.meta.pageSize))
	return err
}

// freelist notes the free pages, so that none of them is reached. A page that is free
// and in use would be written over.
func (w *walker) freelist() error {
	if w.meta.freelist == noFreelist {
		return nil
	}
	p, err := w.read(w.meta.freelist)
	if err != nil {
		return err
	}
	if p.kind != freelistPage {
		return damaged("page %d is no list of free pages", p.id)
	}
	ids, count := p.data[headBytes:], uint64(p.count)
	if count == 0xFFFF { // too many for the head: the first number says how many
		count, ids = order.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return damaged("the list of free pages is cut off")
	}
	for ; count > 0; count-- {
		if id := order.Uint64(ids); !w.mark(id, 1) {
			return damaged("page %d is free twice, or in use", id)
		}
		ids = ids[8:]
	}
	return nil
}

// tree checks the tree below page id, whose keys lie from low up to, but not
// including, high; nil is no bound.
func (w *walker) tree(id uint64, bucket, low, high []byte, depth int) error {
	if depth > deepest {
		return damaged("its tree has no end")
	}
	p, err := w.read(id)
	if err != nil {
		return err
	}
	return w.elements(p, bucket, low, high, depth)
}

// elements checks the keys of one page, and what lies below them.
func (w *walker) elements(p page, bucket, low, high []byte, depth int) error {
	if p.kind != branchPage && p.kind != leafPage || p.kind == branchPage && p.count == 0 {
		return damaged("page %d is no part of a tree", p.id)
	}
	for i := range p.count {
		e, ok := p.element(i)
		if !ok || len(e.key) == 0 || i == 0 && low != nil && bytes.Compare(e.key, low) < 0 || i > 0 && bytes.Compare(e.key, low) <= 0 ||
			high != nil && bytes.Compare(e.key, high) >= 0 {
			return damaged("the keys of page %d are empty, out of bounds or out of order", p.id)
		}
		low = e.key
		if err := w.below(p, i, e, bucket, high, depth); err != nil {
			return err
		}
	}
	return nil
}

// below checks what an element leads to.
func (w *walker) below(p page, i int, e element, bucket, high []byte, depth int) error {
	switch {
	case p.kind == branchPage:
		if next, ok := p.element(i + 1); ok && i+1 < p.count {
			high = next.key
		}
		return w.tree(e.child, bucket, e.key, high, depth+1)
	case e.bucket:
		return w.bucket(e, depth)
	}
	return w.visit(bucket, e.key, e.value)
}

// bucket checks a bucket: a tree of its own or, while it is small, a page within the
// value.
func (w *walker) bucket(e element, depth int) error {
	if len(e.value) < bucketBytes {
		return damaged("a bucket has no root")
	}
	if root := order.Uint64(e.value); root != 0 {
		return w.tree(root, e.key, nil, nil, depth+1)
	}
	inline := e.value[bucketBytes:]
	if len(inline) < headBytes || order.Uint16(inline[8:]) != leafPage || depth >= deepest {
		return damaged("a bucket has no page")
	}
	p := page{kind: leafPage, count: int(order.Uint16(inline[10:])), data: inline}
	return w.elements(p, e.key, nil, nil, depth+1)
}

// element returns the i-th key of the page; false if it does not lie within it.
func (p *page) element(i int) (element, bool) {
	at := headBytes + i*elementBytes
	if at+elementBytes > len(p.data) {
		return element{}, false
	}
	b := p.data[at:]
	if p.kind == branchPage {
		key, ok := cut(b, order.Uint32(b), order.Uint32(b[4:]))
		return element{key: key, child: order.Uint64(b[8:])}, ok
	}
	pos, keyBytes, valueBytes := order.Uint32(b[4:]), order.Uint32(b[8:]), order.Uint32(b[12:])
	both, ok := cut(b, pos, keyBytes+valueBytes)
	if !ok || keyBytes+valueBytes < keyBytes {
		return element{}, false
	}
	return element{key: both[:keyBytes], value: both[keyBytes:], bucket: order.Uint32(b)&bucketFlag != 0}, true
}

// cut returns n bytes of b from pos on, if they are there.
func cut(b []byte, pos, n uint32) ([]byte, bool) {
	if uint64(pos)+uint64(n) > uint64(len(b)) {
		return nil, false
	}
	return b[pos : pos+n], true
}
