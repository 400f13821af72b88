package storagetest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"berth/internal/storage"
)

// blobOf returns size bytes none of whose pieces are alike.
func blobOf(size int, seed byte) []byte {
	value := make([]byte, size)
	for i := range value {
		value[i] = seed + byte(i) + byte(i>>8) + byte(i>>16)
	}
	return value
}

func (c *contract) blobs() {
	for key, size := range map[string]int{"empty": 0, "small {tag} one": 1000, "limit": 256 << 10, "more": 256<<10 + 1, "{tag}many": 1<<20 + 17} {
		value := blobOf(size, 0)
		for range 2 {
			c.putBlob(c.engine, key, value, long)
			c.blob(key, value)
		}
		for range 2 {
			if err := storage.DeleteBlob(c.Context(), c.engine, key); err != nil {
				c.Errorf("DeleteBlob %q: %v", key, err)
			}
			c.noBlob(key)
		}
	}
	if err := storage.PutBlob(c.Context(), c.engine, "k", make([]byte, storage.MaxBlob+1), long); err == nil {
		c.Error("PutBlob of more than MaxBlob: got no error")
	}
}

// Whoever reads while another value is written finds the one or the other.
func (c *contract) blobReplaced() {
	first, second := blobOf(700<<10, 1), blobOf(600<<10, 2)
	c.putBlob(c.engine, "k", first, long)
	cut := &recorder{Engine: c.engine, cut: 2}
	if err := storage.PutBlob(c.Context(), cut, "k", second, long); !errors.Is(err, errCut) {
		c.Fatalf("PutBlob that was cut off: got %v, want its error", err)
	}
	c.blob("k", first)
	c.putBlob(c.engine, "k", second, long)
	c.blob("k", second)
}

func (c *contract) blobPiece() {
	value := blobOf(600<<10, 3)
	writes := &recorder{Engine: c.engine}
	c.putBlob(writes, "k", value, long)
	if head := writes.keys[len(writes.keys)-1]; len(writes.keys) != 4 || head != "{k}" {
		c.Fatalf("written: got %q, want three pieces and then the head", writes.keys)
	}
	for _, key := range writes.keys {
		if !strings.HasPrefix(key, "{k}") {
			c.Errorf("piece %q: got another hash tag than the head's", key)
		}
		if err := c.engine.Delete(c.Context(), key); err != nil {
			c.Fatalf("Delete: %v", err)
		}
		c.noBlob("k")
		c.putBlob(c.engine, "k", value, long)
	}
	if err := c.engine.Put(c.Context(), writes.keys[1], blobOf(256<<10, 9), long); err != nil {
		c.Fatalf("Put: %v", err)
	}
	if _, err := storage.GetBlob(c.Context(), c.engine, "k"); !errors.Is(err, storage.ErrUnavailable) {
		c.Errorf("GetBlob with another's piece: got %v, want ErrUnavailable", err)
	}
}

// No piece goes before the head, and none stays for good.
func (c *contract) blobExpires() {
	writes := &recorder{Engine: c.engine}
	c.putBlob(writes, "k", blobOf(600<<10, 4), short)
	for i, ttl := range writes.ttls {
		if piece := i < len(writes.ttls)-1; piece && ttl <= short || !piece && ttl != short {
			c.Errorf("life of %q: got %v", writes.keys[i], ttl)
		}
	}
	c.awaitGone("{k}")
	c.noBlob("k")
	if err := storage.PutBlob(c.Context(), c.engine, "k", nil, storage.KeepTTL); err == nil {
		c.Error("PutBlob with KeepTTL: got no error")
	}
}

func (c *contract) putBlob(e storage.Engine, key string, value []byte, ttl time.Duration) {
	c.Helper()
	if err := storage.PutBlob(c.Context(), e, key, value, ttl); err != nil {
		c.Fatalf("PutBlob %q: %v", key, err)
	}
}

func (c *contract) blob(key string, want []byte) {
	c.Helper()
	got, err := storage.GetBlob(c.Context(), c.engine, key)
	if err != nil || !bytes.Equal(got, want) {
		c.Errorf("GetBlob %q: got %d bytes, %v; want the %d that were put", key, len(got), err, len(want))
	}
}

func (c *contract) noBlob(key string) {
	c.Helper()
	if _, err := storage.GetBlob(c.Context(), c.engine, key); !errors.Is(err, storage.ErrNotFound) {
		c.Errorf("GetBlob %q: got %v, want ErrNotFound", key, err)
	}
}

var errCut = errors.New("cut off")

// recorder is an engine that tells what was put into it.
type recorder struct {
	storage.Engine
	cut  int // after how many writes the rest fail; 0: never
	keys []string
	ttls []time.Duration
}

func (r *recorder) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if r.cut > 0 && len(r.keys) >= r.cut {
		return errCut
	}
	r.keys, r.ttls = append(r.keys, key), append(r.ttls, ttl)
	return r.Engine.Put(ctx, key, value, ttl)
}
