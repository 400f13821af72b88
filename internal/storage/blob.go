package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/storage/redis"
)

const (
	MaxBlob = 64 << 20 // the size of the largest blob, in bytes

	// blobPiece is small enough that an operation with one ends in time on a line of 10 Mbit/s.
	blobPiece = 256 << 10

	// blobGrace is how much longer pieces live than their head: more than writing or reading the
	// largest takes.
	blobGrace = 5 * time.Minute

	digestBytes = 2 * sha256.Size
)

var (
	errBlobSize = errors.New("storage: a blob is larger than MaxBlob")
	errBlobLife = errors.New("storage: a blob has a life of its own, not KeepTTL")

	errBlobDamaged = fmt.Errorf("%w: what stands there is no whole blob", ErrUnavailable)
)

// blobHead is the record at a blob's key: "<size>:<SHA-256 in hex>:" and the value, if it is no
// larger than a piece. The pieces of a larger one are records beside it, named by the digest. A whole value that never
// leaves this process's memory has none.
type blobHead struct {
	size   int
	digest string
	inline []byte // the whole value, if it has no pieces
}

// dies reports whether what e keeps dies with this process, and is its own: what stands there is what was written.
func dies(e Engine) bool {
	own, ok := e.(interface {
		Shared() bool
		Durable() bool
	})
	return ok && !own.Shared() && !own.Durable()
}

// PutBlob writes value, of at most MaxBlob bytes, as a blob at key, whatever stood there.
// It is written in pieces, which are no more than any record to the engine, and found
// once all of it is there: the head is written last. After an error nobody knows whether
// it is there or what stood before; writing the same value again is harmless.
//
// The pieces of another value that stood at key are left to their expiry: a blob that
// never expires is deleted before it is replaced. Head and pieces share a hash tag; a key
// without one is put into braces.
func PutBlob(ctx context.Context, e Engine, key string, value []byte, ttl time.Duration) error {
	if len(value) > MaxBlob {
		return errBlobSize
	}
	if ttl == KeepTTL {
		return errBlobLife
	}
	key = tagged(key)
	if len(value) <= blobPiece {
		return e.Put(ctx, key, encodeBlob(e, value), ttl)
	}
	head := headOf(value)
	longer := ttl
	if ttl > 0 {
		longer = max(ttl, ttl+blobGrace) // or it overflows
	}
	for i := range head.pieces() {
		piece := value[i*blobPiece : min((i+1)*blobPiece, len(value))]
		if err := e.Put(ctx, head.piece(key, i), piece, longer); err != nil {
			return fmt.Errorf("piece %d of a blob: %w", i, err)
		}
	}
	return e.Put(ctx, key, head.encode(), ttl)
}

// StepBlob is the size of the largest value that PuttingBlob takes: longer ones would keep others waiting.
const StepBlob = redis.MostCargo / 2

// PuttingBlob is PutBlob as a step of e's InOrder.
func PuttingBlob(e Engine, key string, value []byte, ttl time.Duration) Step {
	return Putting(tagged(key), encodeBlob(e, value), ttl)
}

// GetBlob reads the blob at key: ErrNotFound if there is none, or not all of it; ErrUnavailable if
// that is no blob. As a record's value it is shared and must not be modified.
func GetBlob(ctx context.Context, e Engine, key string) ([]byte, error) {
	key = tagged(key)
	head, err := getHead(ctx, e, key)
	if err != nil {
		return nil, err
	}
	value := head.inline
	if head.pieces() > 0 {
		value = make([]byte, 0, head.size)
	}
	for i := range head.pieces() {
		piece, err := e.Get(ctx, head.piece(key, i))
		if err != nil {
			return nil, fmt.Errorf("piece %d of a blob: %w", i, err)
		}
		value = append(value, piece.Value...)
	}
	if head.digest == "" && dies(e) || head.isOf(value) {
		return value, nil
	}
	return nil, errBlobDamaged
}

// DeleteBlob removes the blob at key, if there is one. If it fails it can be repeated: the head
// goes last.
func DeleteBlob(ctx context.Context, e Engine, key string) error {
	key = tagged(key)
	head, err := getHead(ctx, e, key)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range head.pieces() {
		if err := e.Delete(ctx, head.piece(key, i)); err != nil {
			return fmt.Errorf("piece %d of a blob: %w", i, err)
		}
	}
	return e.Delete(ctx, key)
}

// SmallBlob is the size of values that are kept whole.
const SmallBlob = blobPiece

// DeleteSmallBlob is DeleteBlob where the value is known to have had at most SmallBlob bytes: nothing is read
// for it. Of a larger one the pieces are left to their expiry.
func DeleteSmallBlob(ctx context.Context, e Engine, key string) error {
	return e.Delete(ctx, tagged(key))
}

func headOf(value []byte) blobHead {
	sum := sha256.Sum256(value)
	return blobHead{size: len(value), digest: hex.EncodeToString(sum[:])}
}

// isOf reports whether value has the head's digest.
func (h blobHead) isOf(value []byte) bool {
	sum := sha256.Sum256(value)
	var digest [digestBytes]byte
	hex.Encode(digest[:], sum[:])
	return string(digest[:]) == h.digest
}

func getHead(ctx context.Context, e Engine, key string) (blobHead, error) {
	record, err := e.Get(ctx, key)
	if err != nil {
		return blobHead{}, err
	}
	size, rest, found := bytes.Cut(record.Value, []byte(":"))
	n, err := strconv.Atoi(string(size))
	digest, inline, whole := bytes.Cut(rest, []byte(":"))
	if !found || err != nil || n < 0 || n > MaxBlob || !whole || len(digest) != digestBytes && (len(digest) > 0 || n != len(inline)) {
		return blobHead{}, errBlobDamaged
	}
	return blobHead{size: n, digest: string(digest), inline: slices.Clip(inline)}, nil
}

func (h blobHead) encode() []byte {
	text := append(strconv.AppendInt(make([]byte, 0, mostHead), int64(h.size), 10), ':')
	return append(append(text, h.digest...), ':')
}

// mostHead is how long a head is at most, the value aside.
const mostHead = 20 + len(":") + digestBytes + len(":")

// encodeBlob is the head with a whole value in it, as e keeps it.
func encodeBlob(e Engine, value []byte) []byte {
	var room [mostHead]byte
	head := append(strconv.AppendInt(room[:0], int64(len(value)), 10), ':')
	if !dies(e) {
		sum := sha256.Sum256(value)
		head = hex.AppendEncode(head, sum[:])
	}
	head = append(head, ':')
	return append(append(make([]byte, 0, len(head)+len(value)), head...), value...) // what is kept in memory has no room to spare
}

func (h blobHead) pieces() int {
	if h.size <= blobPiece {
		return 0
	}
	return (h.size + blobPiece - 1) / blobPiece
}

func (h blobHead) piece(key string, i int) string {
	return key + ":" + h.digest + ":" + strconv.Itoa(i)
}

// tagged is key with a hash tag, by Redis' rule: what the first braces hold.
func tagged(key string) string {
	if _, rest, open := strings.Cut(key, "{"); open && strings.Index(rest, "}") > 0 {
		return key
	}
	return "{" + key + "}"
}
