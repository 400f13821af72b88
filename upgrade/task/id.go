package task

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"sync"

	"berth/internal/seal"
)

// Layout of a task id: a letter, then base64url of random bytes and their tag. 128
// random bits cannot be guessed; the tag tells a deployment's own ids from all others,
// those of another berth in the chain too, without a look-up.
const (
	idMark   = "T"
	idRandom = 16
	idTag    = 12
	idKey    = 32
)

// IDLength is the length of the ids, in bytes.
const IDLength = len(idMark) + ((idRandom+idTag)*8+5)/6

// IDs makes and recognises the ids of a deployment's upgraded tasks.
type IDs struct {
	keys *seal.Keyring

	mu    sync.RWMutex // guards the field below
	known [][]byte     // the newest first: a store that lost its secret may have got another
}

// NewIDs returns the ids of the deployment that has these keys.
func NewIDs(keys *seal.Keyring) *IDs { return &IDs{keys: keys} }

// keptKeys bounds how many secrets of the past are recognised.
const keptKeys = 4

// Refresh fetches the deployment's secret.
func (i *IDs) Refresh(ctx context.Context) error {
	if err := i.keys.Refresh(ctx); err != nil {
		return err
	}
	return i.learn(ctx)
}

func (i *IDs) learn(ctx context.Context) error {
	key, err := i.keys.Key(ctx, "upgraded task", idKey)
	if err != nil {
		return fmt.Errorf("upgrade: the key of task ids: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.known) > 0 && hmac.Equal(i.known[0], key) {
		return nil
	}
	known := slices.Insert(slices.Clone(i.known), 0, key)
	i.known = known[:min(len(known), keptKeys)]
	return nil
}

// Fresh returns a new id.
func (i *IDs) Fresh(ctx context.Context) (string, error) {
	key, err := i.current(ctx)
	if err != nil {
		return "", err
	}
	raw := make([]byte, idRandom, idRandom+idTag)
	_, _ = rand.Read(raw) // never fails: it crashes the process instead
	return idMark + base64.RawURLEncoding.EncodeToString(append(raw, tag(key, raw)...)), nil
}

// current returns the secret that is used for what is made now.
func (i *IDs) current(ctx context.Context) ([]byte, error) {
	if len(i.secrets()) == 0 {
		if err := i.learn(ctx); err != nil {
			return nil, err
		}
	}
	return i.secrets()[0], nil
}

// Ours reports whether the deployment made id. It fails if the secret is not known yet
// and the store cannot be asked for it; what has not the form of an id needs neither.
func (i *IDs) Ours(ctx context.Context, id string) (bool, error) {
	if len(id) != IDLength || id[:len(idMark)] != idMark {
		return false, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(id[len(idMark):])
	if err != nil || len(raw) != idRandom+idTag {
		return false, nil
	}
	if len(i.secrets()) == 0 {
		if err := i.learn(ctx); err != nil {
			return false, err
		}
	}
	return slices.ContainsFunc(i.secrets(), func(key []byte) bool {
		return hmac.Equal(tag(key, raw[:idRandom]), raw[idRandom:])
	}), nil
}

func (i *IDs) secrets() [][]byte {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.known
}

func tag(key, random []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(random)
	return mac.Sum(nil)[:idTag]
}

// NewName returns a name that nobody else has: of a process, of an op.
func NewName(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}
