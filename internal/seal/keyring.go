package seal

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/internal/timed"
)

const (
	keyName    = "seal:key"
	formerName = "seal:former" // the list of secrets that stood there before
)

// keptKeys is how many secrets are known at most: a store that is flushed may get another each time.
const keptKeys = 5

// refreshEvery is how often a berth looks whether the store has its secret.
const refreshEvery = 5 * time.Second

// Store is what is asked of a *storage.Store.
type Store interface {
	storage.Engine
	Shared() bool
}

// Keyring seals and opens with the deployment's secret: one that was given, or that berths share
// through their store. Its methods may be called concurrently.
type Keyring struct {
	store Store // nil: the secret was given

	mu      sync.Mutex // guards the fields below
	sealers []*sealer  // the one to seal with first, then those before it, which open
	made    time.Time  // when this berth made one, since it found none; zero: it did not

	turn chan struct{} // holds one while the field below is in use
	last rereading
}

// rereading is one of all that the store has, and what came of it.
type rereading struct {
	began time.Time
	err   error
}

// NewKeyring returns a keyring of secret, of MinSecret bytes and the same at all berths that
// clients may be sent to.
func NewKeyring(secret []byte) (*Keyring, error) {
	s, err := newSealer(bytes.Clone(secret))
	if err != nil {
		return nil, err
	}
	return &Keyring{sealers: []*sealer{s}, turn: make(chan struct{}, 1)}, nil
}

// NewStoredKeyring returns a keyring whose secret the first berth that needs it puts into store.
func NewStoredKeyring(store Store) *Keyring {
	return &Keyring{store: store, turn: make(chan struct{}, 1)}
}

// Run keeps the secret in the store, so that one which is flushed gets the same again, until ctx ends. It returns nil.
func (k *Keyring) Run(ctx context.Context) error {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		_ = k.Refresh(ctx) // what is known is good until the store says otherwise
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Seal returns text as a token, which Open gives back for life to whoever names the same purpose
// and about. The error wraps storage.ErrUnavailable: there is no secret yet.
func (k *Keyring) Seal(ctx context.Context, purpose string, about []string, text []byte, life time.Duration) (string, error) {
	known, err := k.current(ctx)
	if err != nil {
		return "", err
	}
	return known[0].seal(purpose, about, text, life), nil
}

// Open returns the text of a token. The error is ErrInvalid, or wraps storage.ErrUnavailable:
// nobody can say.
func (k *Keyring) Open(ctx context.Context, purpose string, about []string, token string) ([]byte, error) {
	text, _, err := k.OpenUntil(ctx, purpose, about, token)
	return text, err
}

// OpenUntil is Open, and says when the token expires.
func (k *Keyring) OpenUntil(ctx context.Context, purpose string, about []string, token string) (text []byte, until time.Time, err error) {
	raw, err := decode(token)
	if err != nil {
		return nil, until, err
	}
	known := k.known()
	if text, until, err = openWith(known, purpose, about, raw); err == nil || k.store == nil {
		return text, until, err
	}
	// The store may have been flushed, and another berth may have made a new secret.
	if err := k.reread(ctx); err != nil {
		return nil, until, err
	}
	text, until, err = openWith(added(known, k.known()), purpose, about, raw)
	if err != nil && k.IsNew() && !isOfAny(k.known(), raw) {
		return nil, until, ErrNew
	}
	return text, until, err
}

// HasMade reports whether a token is of the deployment, as far as this berth knows its secrets by now: of 65,536 others one may be taken for
// one.
func (k *Keyring) HasMade(ctx context.Context, token string) bool {
	raw, err := decode(token)
	if err != nil {
		return false
	}
	known, _ := k.current(ctx)
	return isOfAny(known, raw)
}

// isOfAny reports whether a token hints at one of these secrets.
func isOfAny(sealers []*sealer, raw []byte) bool {
	return slices.ContainsFunc(sealers, func(s *sealer) bool { return s.isOf(raw) })
}

// OpenAny is OpenUntil for whichever of these a token is about.
func (k *Keyring) OpenAny(ctx context.Context, purpose string, about [][]string, token string) (text []byte, until time.Time, err error) {
	for _, one := range about {
		if text, until, err = k.OpenUntil(ctx, purpose, one, token); !errors.Is(err, ErrInvalid) {
			break
		}
	}
	return text, until, err
}

// ErrNew says that a token may be good where there was another secret before a flush, of which this berth may hear.
var ErrNew = fmt.Errorf("seal: the secret is new: %w", storage.ErrUnavailable)

// IsNew reports whether this berth has made the secret itself, while other berths may know another one, and had no time yet to say so.
func (k *Keyring) IsNew() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.store != nil && k.store.Shared() && !k.made.IsZero() && time.Since(k.made) < 2*refreshEvery
}

// openWith opens a token by one of these; the error is ErrInvalid.
func openWith(sealers []*sealer, purpose string, about []string, raw []byte) (text []byte, until time.Time, err error) {
	for _, s := range sealers {
		if text, until, err := s.open(purpose, about, raw); err == nil {
			return text, until, nil
		}
	}
	return nil, until, ErrInvalid
}

// added are those of now that were not there before.
func added(before, now []*sealer) []*sealer {
	return slices.DeleteFunc(slices.Clone(now), func(s *sealer) bool { return slices.Contains(before, s) })
}

func (k *Keyring) known() []*sealer {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sealers
}

func (k *Keyring) current(ctx context.Context) ([]*sealer, error) {
	if known := k.known(); known != nil {
		return known, nil
	}
	return k.fetch(ctx)
}

// fetch takes over the secret in the store. If there is none, it puts its own there, or a new one. If it is another one than before, others
// are told of that: a berth that has not known it may have made the new one.
func (k *Keyring) fetch(ctx context.Context) ([]*sealer, error) {
	record, err := k.store.Get(ctx, keyName)
	if errors.Is(err, storage.ErrNotFound) {
		record, err = k.offer(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("seal: the secret in the store: %w", err)
	}
	before := k.known()
	known, err := k.take(record.Value, 0)
	if err != nil {
		return nil, err
	}
	if before != nil && before[0] != known[0] {
		k.tellFormer(ctx, known)
	}
	return known, nil
}

// tellFormer has the store keep the secrets that stood there before; what it does not take, it is told with the next refresh.
func (k *Keyring) tellFormer(ctx context.Context, known []*sealer) {
	for _, former := range known[1:] {
		_ = k.store.AddMember(ctx, formerName, base64.RawURLEncoding.EncodeToString(former.secret), 0, keptKeys)
	}
}

// rereadEvery is how often the store is read for tokens that open nothing, which anybody can make up: those that come meanwhile share the
// next reading.
const rereadEvery = 50 * time.Millisecond

// reread takes over all that the store has, as it stands now or later.
func (k *Keyring) reread(ctx context.Context) error {
	came := time.Now()
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if k.last.began.After(came) {
		return k.last.err
	}
	if early := rereadEvery - time.Since(k.last.began); early > 0 && timed.Sleep(ctx, early) != nil {
		return context.Cause(ctx)
	}
	this := rereading{began: time.Now()}
	if _, this.err = k.fetch(ctx); this.err == nil {
		this.err = k.learnFormer(ctx)
	}
	if ctx.Err() == nil { // else it says less of the store than of who asked
		k.last = this
	}
	return this.err
}

// learnFormer takes over secrets that other berths knew before.
func (k *Keyring) learnFormer(ctx context.Context) error {
	members, err := k.store.Members(ctx, formerName)
	if err != nil {
		return fmt.Errorf("seal: earlier secrets in the store: %w", err)
	}
	for _, member := range members {
		if secret, err := base64.RawURLEncoding.DecodeString(member); err == nil {
			_, _ = k.take(secret, 1) // what is none is of no use
		}
	}
	return nil
}

// take has a secret stand at that place, if it is known yet or not: 0 for the one to seal with. It returns all.
func (k *Keyring) take(secret []byte, place int) ([]*sealer, error) {
	s, err := newSealer(secret)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	at := slices.IndexFunc(k.sealers, func(known *sealer) bool { return bytes.Equal(known.secret, secret) })
	if at == place || at >= 0 && place > 0 { // what is sealed with now may have been an earlier one before
		return k.sealers, nil
	}
	known := slices.Clone(k.sealers)
	if at >= 0 {
		s = known[at]
		known = slices.Delete(known, at, at+1)
	}
	known = slices.Insert(known, min(place, len(known)), s)
	k.sealers = known[:min(len(known), keptKeys)]
	return k.sealers, nil
}

// offer puts a secret where there is none: the one that is known, or a new one. It returns what stands then.
func (k *Keyring) offer(ctx context.Context) (storage.Record, error) {
	if known := k.known(); known != nil {
		record, _, err := k.store.PutIfAbsent(ctx, keyName, known[0].secret, 0)
		return record, err
	}
	secret := make([]byte, MinSecret)
	_, _ = rand.Read(secret) // never fails: it crashes the process instead
	record, made, err := k.store.PutIfAbsent(ctx, keyName, secret, 0)
	if err == nil && made {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.made = time.Now()
	}
	return record, err
}

// Keys returns size bytes that every berth of the deployment derives for this use, and behind them those of secrets that stood in
// the store before: see [Keyring.Refresh]. The error wraps storage.ErrUnavailable: there is no secret yet.
func (k *Keyring) Keys(ctx context.Context, use string, size int) (keys [][]byte, err error) {
	known, err := k.current(ctx)
	for _, s := range known {
		keys = append(keys, derive(s.secret, nil, "berth key: "+use, size))
	}
	return keys, err
}

// Refresh takes over the secret in the store, and puts this berth's own there if the store has lost
// it. It makes none.
func (k *Keyring) Refresh(ctx context.Context) error {
	if k.store == nil {
		return nil
	}
	if k.known() == nil {
		switch _, err := k.store.Get(ctx, keyName); {
		case errors.Is(err, storage.ErrNotFound):
			return nil
		case err != nil:
			return fmt.Errorf("seal: the secret in the store: %w", err)
		}
	}
	if err := k.reread(ctx); err != nil {
		return err
	}
	k.tellFormer(ctx, k.known())
	return nil
}

// Given reports whether the secret stands in no store: only then is what it seals safe from those
// who read that.
func (k *Keyring) Given() bool { return k.store == nil }
