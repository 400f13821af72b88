package task

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"slices"
	"sync"

	"berth/internal/seal"
)

// Layout of a task id: a letter, then base64url of random bytes and their tag. 112
// random bits cannot be guessed; the tag tells a deployment's own ids from all others,
// those of another berth in the chain too, without a look-up. The random bytes end with a hint at the secret that the
// tag is by; up to 0.10.1 they were random to the end.
const (
	idMark   = "T"
	idRandom = 16
	idHint   = 2
	idTag    = 12
	idKey    = 32
)

// IDLength is the length of the ids, in bytes.
const IDLength = len(idMark) + ((idRandom+idTag)*8+5)/6

// IDs makes and recognises the ids of a deployment's upgraded tasks.
type IDs struct {
	keys *seal.Keyring

	mu    sync.RWMutex // guards the field below
	known []*secret    // the one that ids are made by first: a store that lost its secret may have got another
}

// NewIDs returns the ids of the deployment that has these keys.
func NewIDs(keys *seal.Keyring) *IDs { return &IDs{keys: keys} }

// Refresh fetches the deployment's secret. Whose a task is a berth can tell that knows it, be the task another one's.
func (i *IDs) Refresh(ctx context.Context) error {
	if err := i.keys.Refresh(ctx); err != nil {
		return err
	}
	return i.learn(ctx)
}

func (i *IDs) learn(ctx context.Context) error {
	keys, err := i.keys.Keys(ctx, "upgraded task", idKey)
	if err != nil {
		return fmt.Errorf("upgrade: the key of task ids: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if slices.EqualFunc(i.known, keys, func(s *secret, key []byte) bool { return hmac.Equal(s.key, key) }) {
		return nil
	}
	i.known = nil
	for _, key := range keys {
		i.known = append(i.known, newSecret(key))
	}
	return nil
}

// Fresh returns a new id.
func (i *IDs) Fresh(ctx context.Context) (string, error) {
	key, err := i.current(ctx)
	if err != nil {
		return "", err
	}
	raw := make([]byte, idRandom, idRandom+sha256.Size)
	_, _ = rand.Read(raw[:idRandom-idHint]) // never fails: it crashes the process instead
	var hint [sha256.Size]byte
	copy(raw[idRandom-idHint:], key.tag(hint[:0], raw[:idRandom-idHint]))
	var text [IDLength]byte
	return string(base64.RawURLEncoding.AppendEncode(append(text[:0], idMark...), key.tag(raw, raw)[:idRandom+idTag])), nil
}

// AreKnown reports whether the deployment's secret is: then nobody is asked for it.
func (i *IDs) AreKnown() bool { return len(i.secrets()) > 0 }

// Known sees to it that it is.
func (i *IDs) Known(ctx context.Context) error {
	if i.AreKnown() {
		return nil
	}
	return i.learn(ctx)
}

// current returns the secret that is used for what is made now.
func (i *IDs) current(ctx context.Context) (*secret, error) {
	if err := i.Known(ctx); err != nil {
		return nil, err
	}
	return i.secrets()[0], nil
}

// Ours reports whether the deployment made id. It fails if the secret is not known yet
// and the store cannot be asked for it, and while there may be another one; what has not the form of an id needs neither.
func (i *IDs) Ours(ctx context.Context, id string) (bool, error) {
	if len(id) != IDLength || id[:len(idMark)] != idMark {
		return false, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(id[len(idMark):])
	if err != nil || len(raw) != idRandom+idTag {
		return false, nil
	}
	if err := i.Known(ctx); err != nil {
		return false, err
	}
	ours := slices.ContainsFunc(i.secrets(), func(s *secret) bool {
		var own [sha256.Size]byte
		return hmac.Equal(s.tag(own[:0], raw[:idRandom])[:idTag], raw[idRandom:])
	})
	if !ours && i.keys.IsNew() && !i.hasMade(raw) {
		return false, fmt.Errorf("upgrade: whose id it is: %w", seal.ErrNew)
	}
	return ours, nil
}

// hasMade reports whether what is random in an id hints at a secret that is known: then it was changed since, or is another's by chance.
func (i *IDs) hasMade(raw []byte) bool {
	return slices.ContainsFunc(i.secrets(), func(s *secret) bool {
		var own [sha256.Size]byte
		return hmac.Equal(s.tag(own[:0], raw[:idRandom-idHint])[:idHint], raw[idRandom-idHint:idRandom])
	})
}

func (i *IDs) secrets() []*secret {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.known
}

// secret is one that ids are made and recognised by.
type secret struct {
	key  []byte
	macs sync.Pool // of hash.Hash: to make one costs as much as what it is made for
}

func newSecret(key []byte) *secret {
	return &secret{key: key, macs: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

// tag appends what the secret makes of random.
func (s *secret) tag(to, random []byte) []byte {
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	mac.Write(random)
	return mac.Sum(to)
}

// NewName returns a name that nobody else has, of 16 random bytes at most: of a process, of an op.
func NewName(bytes int) string { return NewNameAfter("", bytes) }

// NewNameAfter is NewName behind a word.
func NewNameAfter(word string, bytes int) string {
	var raw [16]byte
	var text [32]byte
	_, _ = rand.Read(raw[:bytes])
	return string(base64.RawURLEncoding.AppendEncode(append(text[:0], word...), raw[:bytes]))
}
