package seal

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"berth/internal/storage"
)

const keyName = "seal:key"

// Keyring seals and opens with the deployment's secret: one that was given, or that berths share
// through their store. Its methods may be called concurrently.
type Keyring struct {
	store *storage.Store // nil: the secret was given

	mu     sync.Mutex // guards the field below
	sealer *sealer    // nil: not fetched yet
}

// NewKeyring returns a keyring of secret, of MinSecret bytes and the same at all berths that
// clients may be sent to.
func NewKeyring(secret []byte) (*Keyring, error) {
	s, err := newSealer(bytes.Clone(secret))
	if err != nil {
		return nil, err
	}
	return &Keyring{sealer: s}, nil
}

// NewStoredKeyring returns a keyring whose secret the first berth that needs it puts into store.
func NewStoredKeyring(store *storage.Store) *Keyring { return &Keyring{store: store} }

// Seal returns text as a token, which Open gives back for life to whoever names the same purpose
// and about. The error wraps storage.ErrUnavailable: there is no secret yet.
func (k *Keyring) Seal(ctx context.Context, purpose string, about []string, text []byte, life time.Duration) (string, error) {
	s, err := k.current(ctx)
	if err != nil {
		return "", err
	}
	return s.seal(purpose, about, text, life), nil
}

// Open returns the text of a token. The error is ErrInvalid, or wraps storage.ErrUnavailable:
// nobody can say.
func (k *Keyring) Open(ctx context.Context, purpose string, about []string, token string) ([]byte, error) {
	raw, err := decode(token)
	if err != nil {
		return nil, err
	}
	known := k.known()
	if known != nil {
		if text, err := known.open(purpose, about, raw); err == nil || k.store == nil {
			return text, err
		}
	}
	// The store may have been flushed, and another berth may have made a new secret.
	s, err := k.fetch(ctx)
	if err != nil {
		return nil, err
	}
	return s.open(purpose, about, raw)
}

func (k *Keyring) known() *sealer {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sealer
}

func (k *Keyring) current(ctx context.Context) (*sealer, error) {
	if s := k.known(); s != nil {
		return s, nil
	}
	return k.fetch(ctx)
}

// fetch takes over the secret in the store. If there is none, it puts its own there, or a new one.
func (k *Keyring) fetch(ctx context.Context) (*sealer, error) {
	record, err := k.store.Get(ctx, keyName)
	if errors.Is(err, storage.ErrNotFound) {
		record, _, err = k.store.PutIfAbsent(ctx, keyName, k.offer(), 0)
	}
	if err != nil {
		return nil, fmt.Errorf("seal: the secret in the store: %w", err)
	}
	s, err := newSealer(record.Value)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sealer = s
	return s, nil
}

func (k *Keyring) offer() []byte {
	if s := k.known(); s != nil {
		return s.secret
	}
	secret := make([]byte, MinSecret)
	_, _ = rand.Read(secret) // never fails: it crashes the process instead
	return secret
}

// Key returns size bytes that every berth of the deployment derives for this use. Another secret in
// the store makes other bytes: see [Keyring.Refresh]. The error wraps storage.ErrUnavailable: there
// is no secret yet.
func (k *Keyring) Key(ctx context.Context, use string, size int) ([]byte, error) {
	s, err := k.current(ctx)
	if err != nil {
		return nil, err
	}
	return derive(s.secret, nil, "berth key: "+use, size), nil
}

// Refresh takes over the secret in the store, and puts this berth's own there if the store has lost
// it.
func (k *Keyring) Refresh(ctx context.Context) error {
	if k.store == nil {
		return nil
	}
	_, err := k.fetch(ctx)
	return err
}

// Given reports whether the secret stands in no store: only then is what it seals safe from those
// who read that.
func (k *Keyring) Given() bool { return k.store == nil }
