package drain

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"sync"
	"time"

	"berth/internal/seal"
)

// IDs hides the ids of tasks from who reads the store, as far as the deployment's secret is hidden
// from them, and shows them to operators.
type IDs struct {
	keys *seal.Keyring

	mu    sync.Mutex // guards the fields below
	aead  cipher.AEAD
	tried time.Time // when the secret was not to be had
}

// NewIDs returns IDs by the deployment's secret.
func NewIDs(keys *seal.Keyring) *IDs { return &IDs{keys: keys} }

const (
	idKeySize = 32          // AES-256
	askAgain  = time.Second // for a secret that was not to be had
)

// cipher returns nil while there is no secret.
func (i *IDs) cipher() cipher.AEAD {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.aead != nil || time.Since(i.tried) < askAgain {
		return i.aead
	}
	keys, err := i.keys.Keys(context.Background(), "ids of owned tasks", idKeySize) // the store bounds it
	if err != nil {
		i.tried = time.Now()
		return nil
	}
	block, err := aes.NewCipher(keys[0])
	if err == nil {
		i.aead, err = cipher.NewGCM(block)
	}
	if err != nil {
		panic(err) // for keys and blocks of other sizes only
	}
	return i.aead
}

// Hide returns what may stand in the store for an id; "" while nothing may.
func (i *IDs) Hide(id string) string {
	aead := i.cipher()
	if aead == nil {
		return ""
	}
	r := idBuffers.Get().(*idBuffer)
	defer idBuffers.Put(r)
	nonce := r.sealed[:aead.NonceSize()]
	_, _ = rand.Read(nonce) // never fails: it crashes the process instead
	sealed := aead.Seal(nonce, nonce, append(r.id[:0], id...), nil)
	return string(base64.RawURLEncoding.AppendEncode(r.hidden[:0], sealed))
}

// idBuffer is for an id, and what it becomes on its way to be hidden. Longer ones have their own.
type idBuffer struct{ id, sealed, hidden [128]byte }

var idBuffers = sync.Pool{New: func() any { return new(idBuffer) }}

// Show returns the id that was hidden so; "" if that was with another secret.
func (i *IDs) Show(hidden string) string {
	aead := i.cipher()
	raw, err := base64.RawURLEncoding.DecodeString(hidden)
	if err != nil || aead == nil || len(raw) < aead.NonceSize() {
		return ""
	}
	id, err := aead.Open(nil, raw[:aead.NonceSize()], raw[aead.NonceSize():], nil)
	if err != nil {
		return ""
	}
	return string(id)
}
