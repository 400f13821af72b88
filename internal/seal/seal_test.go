package seal

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/storagetest"
)

var secret = bytes.Repeat([]byte{7}, MinSecret)

func newKeyring(t *testing.T, secret []byte) *Keyring {
	t.Helper()
	k, err := NewKeyring(secret)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustSeal(t *testing.T, k *Keyring, purpose string, about []string, text string) string {
	t.Helper()
	token, err := k.Seal(t.Context(), purpose, about, []byte(text), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTokenOpensOnlyWhereItWasSealedFor(t *testing.T) {
	k := newKeyring(t, secret)
	about := []string{"pool", "alice"}
	token := mustSeal(t, k, "list", about, "text")
	if text, err := k.Open(t.Context(), "list", about, token); err != nil || string(text) != "text" {
		t.Fatalf("got %q, %v", text, err)
	}
	for name, place := range map[string]struct {
		purpose string
		about   []string
		key     *Keyring
	}{
		"another purpose":        {"lists", about, k},
		"another principal":      {"list", []string{"pool", "bob"}, k},
		"split elsewhere":        {"list", []string{"poola", "lice"}, k},
		"one part more":          {"list", append(slices.Clone(about), ""), k},
		"nothing":                {"list", nil, k},
		"another deployment":     {"list", about, newKeyring(t, bytes.Repeat([]byte{8}, MinSecret))},
		"a store's own secret":   {"list", about, NewStoredKeyring(storagetest.OpenMemory(t))},
		"purpose and part moved": {"listpool", []string{"alice"}, k},
	} {
		if text, err := place.key.Open(t.Context(), place.purpose, place.about, token); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %q, %v, want ErrInvalid", name, text, err)
		}
	}
}

// TestNoBitOfATokenMayChange: neither may a token be cut, or written differently.
func TestNoBitOfATokenMayChange(t *testing.T) {
	k := newKeyring(t, secret)
	token := mustSeal(t, k, "list", nil, "text")
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	forged := []string{"", "x", token + "A", token + "=", token[:len(token)-4], " " + token, token + "\n", "\r" + token, strings.ToUpper(token)}
	for i := range raw {
		for bit := range 8 {
			changed := bytes.Clone(raw)
			changed[i] ^= 1 << bit
			forged = append(forged, base64.RawURLEncoding.EncodeToString(changed))
		}
	}
	for _, f := range forged {
		if text, err := k.Open(t.Context(), "list", nil, f); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %q, %v, want ErrInvalid", f, text, err)
		}
	}
}

func TestTokenTellsNothingAndNoTwoAreAlike(t *testing.T) {
	k := newKeyring(t, secret)
	a, b := mustSeal(t, k, "list", nil, "task-of-somebody"), mustSeal(t, k, "list", nil, "task-of-somebody")
	raw, _ := base64.RawURLEncoding.DecodeString(a)
	if a == b || bytes.Contains(raw, []byte("task-of")) {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeyring(t, secret)
		token := mustSeal(t, k, "list", nil, "text")
		time.Sleep(time.Minute)
		if _, err := k.Open(t.Context(), "list", nil, token); err != nil {
			t.Errorf("within its life: %v", err)
		}
		time.Sleep(time.Millisecond)
		if _, err := k.Open(t.Context(), "list", nil, token); !errors.Is(err, ErrInvalid) {
			t.Errorf("after its life: got %v, want ErrInvalid", err)
		}
	})
}

func TestShortSecretIsRefused(t *testing.T) {
	if _, err := NewKeyring(secret[1:]); err == nil {
		t.Error("31 bytes were taken")
	}
}

// TestBerthsOfAStoreShareASecret: also once the store has lost it, whoever is first.
func TestBerthsOfAStoreShareASecret(t *testing.T) {
	store := storagetest.OpenMemory(t)
	a, b := NewStoredKeyring(store), NewStoredKeyring(store)
	before := mustSeal(t, a, "list", nil, "text")
	check := func(name string, k *Keyring, token string) {
		t.Helper()
		if text, err := k.Open(t.Context(), "list", nil, token); err != nil || string(text) != "text" {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
	check("the other berth", b, before)
	lose := func() {
		t.Helper()
		if err := store.Delete(t.Context(), keyName); err != nil {
			t.Fatal(err)
		}
	}
	lose()
	restarted := NewStoredKeyring(store)
	check("sealed after the loss", a, mustSeal(t, restarted, "list", nil, "text"))
	if _, err := b.Open(t.Context(), "list", nil, mustSeal(t, a, "list", nil, "text")); err != nil {
		t.Errorf("the other berth after the loss: %v", err)
	}
	check("sealed before all losses", a, before)
	lose()
	check("the same, where nobody knew it yet", restarted, before)
	check("put back by a berth that knew it", NewStoredKeyring(store), mustSeal(t, a, "list", nil, "text"))
}

// A flush changes nothing: each berth keeps the secret that it has heard of, whether it has used it or not, and puts it back.
func TestAFlushKeepsTheSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		a, b := NewStoredKeyring(store), NewStoredKeyring(store)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		for _, k := range []*Keyring{a, b} {
			running.Go(func() { _ = k.Run(ctx) })
		}
		time.Sleep(refreshEvery + time.Second)
		if _, err := store.Get(ctx, keyName); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("there is a secret that nobody needs: %v", err)
		}
		token := mustSeal(t, a, "list", nil, "text")
		time.Sleep(refreshEvery + time.Second)
		if err := store.Delete(ctx, keyName); err != nil {
			t.Fatal(err)
		}
		later := mustSeal(t, b, "list", nil, "text")
		time.Sleep(refreshEvery + time.Second)
		for _, token := range []string{token, later} {
			for _, k := range []*Keyring{a, b, NewStoredKeyring(store)} {
				if _, err := k.Open(ctx, "list", nil, token); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// A berth that starts right after a flush makes another secret. What either has sealed opens everywhere, then and after the next flush,
// and ids that either has made are known.
func TestSecretsOfBeforeAFlushOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		a, ctx := NewStoredKeyring(store), t.Context()
		before := mustSeal(t, a, "list", nil, "text")
		first, _ := a.Keys(ctx, "ids", 8)
		if err := store.Delete(ctx, keyName); err != nil {
			t.Fatal(err)
		}
		b := NewStoredKeyring(store)
		after := mustSeal(t, b, "list", nil, "text")
		if err := a.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		if err := b.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		for name, k := range map[string]*Keyring{"the older": a, "the newer": b, "one that comes later": NewStoredKeyring(store)} {
			for _, token := range []string{before, after} {
				if _, err := k.Open(ctx, "list", nil, token); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			keys, err := k.Keys(ctx, "ids", 8)
			if err != nil || len(keys) != 2 || !bytes.Equal(keys[1], first[0]) {
				t.Errorf("%s has the keys %x, %v", name, keys, err)
			}
		}
		if _, err := b.Open(ctx, "list", nil, mustSeal(t, newKeyring(t, secret), "list", nil, "text")); !errors.Is(err, ErrInvalid) {
			t.Errorf("of nobody: %v", err)
		}
		// An earlier one may come to stand there again.
		if err := errors.Join(store.Delete(ctx, keyName), a.Refresh(ctx)); err != nil {
			t.Fatal(err)
		}
		standing, err := store.Get(ctx, keyName)
		c := NewStoredKeyring(store)
		if err := errors.Join(err, store.AddMember(ctx, formerName, base64.RawURLEncoding.EncodeToString(standing.Value), 0, 0), c.Refresh(ctx)); err != nil {
			t.Fatal(err)
		}
		if got := c.known()[0].secret; !bytes.Equal(got, standing.Value) {
			t.Errorf("it seals with %x, and %x stands", got, standing.Value)
		}
	})
}

// shared is a store that other berths see.
type shared struct{ *storage.Store }

func (shared) Shared() bool { return true }

// A berth that has made the secret, since it found none, may be the one that starts right after a flush: until others had their time to
// say what they knew, what does not open may be good.
func TestWhoHasMadeTheSecretHearsOthersFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := shared{storagetest.OpenMemory(t)}
		a, ctx := NewStoredKeyring(store), t.Context()
		token := mustSeal(t, a, "list", nil, "text")
		if err := store.Delete(ctx, keyName); err != nil {
			t.Fatal(err)
		}
		b, late := NewStoredKeyring(store), NewStoredKeyring(store)
		if _, err := b.Open(ctx, "list", nil, token); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("before others could say anything: %v", err)
		}
		if _, err := b.Open(ctx, "list", []string{"another"}, mustSeal(t, b, "list", nil, "text")); !errors.Is(err, ErrInvalid) {
			t.Errorf("its own, of another caller: %v", err)
		}
		time.Sleep(refreshEvery)
		if err := a.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		for _, k := range []*Keyring{b, late} {
			if _, err := k.Open(ctx, "list", nil, token); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(refreshEvery)
		foreign := mustSeal(t, newKeyring(t, secret), "list", nil, "text")
		if _, err := b.Open(ctx, "list", nil, foreign); !errors.Is(err, ErrInvalid) {
			t.Errorf("of nobody: %v", err)
		}
	})
}

func TestStoreAwayIsNoInvalidToken(t *testing.T) {
	store := storagetest.OpenMemory(t)
	k := NewStoredKeyring(store)
	foreign := mustSeal(t, newKeyring(t, secret), "list", nil, "text")
	away, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Seal(away, "list", nil, nil, time.Minute); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("sealing without a secret: got %v", err)
	}
	known := mustSeal(t, k, "list", nil, "text")
	_ = store.Close()
	if _, err := k.Open(t.Context(), "list", nil, known); err != nil {
		t.Errorf("a token of the known secret: %v", err)
	}
	if _, err := k.Open(t.Context(), "list", nil, foreign); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a token of a secret that may be new: got %v, want ErrUnavailable", err)
	}
	if _, err := k.Open(t.Context(), "list", nil, "made-up"); !errors.Is(err, ErrInvalid) {
		t.Errorf("what is no token: got %v, want ErrInvalid", err)
	}
}

// fixedToken is a token for "text" that every process makes alike, as those that fuzz
// together must.
func fixedToken(s *sealer) string {
	token := make([]byte, 1+saltSize)
	token[0] = version
	aead, nonce := s.cipher("list", token[1:])
	const farAway = 1 << 47 // milliseconds
	plain := append(binary.BigEndian.AppendUint64(nil, farAway), "text"...)
	return base64.RawURLEncoding.EncodeToString(aead.Seal(token, nonce, plain, associated(nil)))
}

// FuzzOpen: nothing opens but what was sealed, in the one spelling that it was given out in.
func FuzzOpen(f *testing.F) {
	k, err := NewKeyring(secret)
	if err != nil {
		f.Fatal(err)
	}
	token := fixedToken(k.known()[0])
	f.Add(token)
	f.Add(token + "=")
	f.Add(token[:len(token)-1])
	f.Add("")
	f.Add(strings.Repeat("A", 100))
	f.Fuzz(func(t *testing.T, s string) {
		text, err := k.Open(t.Context(), "list", nil, s)
		if (err == nil) != (s == token) {
			t.Errorf("%q opened to %q, %v", s, text, err)
		}
	})
}
