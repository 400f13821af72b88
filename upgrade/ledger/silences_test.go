package ledger

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/storage/storagetest"
	"berth/upgrade/quota"
)

// between is a store in which something happens after each reading.
type between struct {
	Store
	then func()
}

func (b *between) Get(ctx context.Context, key string) (storage.Record, error) {
	r, err := b.Store.Get(ctx, key)
	b.then()
	return r, err
}

// A lease that only the store's clock has stand is ended, once its holder must be dead by any clock, and no sooner.
func TestALeaseThatIsNotRenewedEndsThoughItStands(t *testing.T) {
	const life, beat = 3 * time.Second, time.Second
	told := Word{}.encode("other", life)
	for name, c := range map[string]struct {
		value []byte
		each  func(n int, renew func(), s *Silences) // before the look at so many beats
		race  bool                                   // it is renewed as it is looked at, once it is to be ended
		ends  time.Duration                          // after the first look; 0: within an hour it does not
	}{
		"silent":        {value: told, ends: life + 2*beat},
		"of before":     {value: []byte("other 1 2"), ends: LongestLease + 2*beat},
		"of long ago":   {value: []byte("other"), ends: LongestLease + 2*beat},
		"another life":  {value: Word{}.encode("other", time.Minute), ends: time.Minute + 2*beat},
		"renewed":       {value: told, each: func(n int, renew func(), _ *Silences) { renew() }},
		"late":          {value: told, each: func(n int, renew func(), _ *Silences) { doEach(n, 4, renew) }},
		"in doubt":      {value: told, each: func(n int, _ func(), s *Silences) { doEach(n, 4, s.Forget) }},
		"frozen":        {value: told, each: func(n int, _ func(), _ *Silences) { doEach(n, 3, func() { time.Sleep(2 * beat) }) }},
		"not listed":    {value: told, each: func(n int, _ func(), s *Silences) { doEach(n, 4, func() { s.Keep(nil) }) }},
		"just too late": {value: told, race: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys, err := seal.NewKeyring(make([]byte, seal.MinSecret))
				if err != nil {
					t.Fatal(err)
				}
				store := &between{Store: storagetest.OpenMemory(t), then: func() {}}
				l := New(store, "", keys, 3*beat, quota.Bounds{})
				renew := func() { // for longer than it lives, as the store's clock goes back
					if err := store.Put(t.Context(), l.Lists.LeaseOf("other"), c.value, 24*time.Hour); err != nil {
						t.Fatal(err)
					}
				}
				renew()
				s, begun := l.Silences(), time.Now()
				for n := 0; time.Since(begun) < time.Hour; n++ {
					if c.race && n == 4 {
						store.then = renew
					}
					if c.each != nil {
						c.each(n, renew, s)
					}
					stands, err := s.Stands(t.Context(), "other")
					if err != nil {
						t.Fatal(err)
					}
					if !stands {
						if ended := time.Since(begun); c.ends == 0 || ended != c.ends {
							t.Errorf("it is missing after %v, want %v", ended, c.ends)
						}
						return
					}
					time.Sleep(beat)
				}
				if c.ends > 0 {
					t.Error("it stands")
				}
			})
		})
	}
}

// doEach does something with every nth.
func doEach(n, every int, do func()) {
	if n%every == every-1 {
		do()
	}
}

// A lease that is lost again and again, and begun anew each time, is at the same version at each look.
func TestALeaseThatIsBegunAnewIsNotSilent(t *testing.T) {
	const life, beat = 3 * time.Second, time.Second
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		lists := Lists{store}
		s := &Silences{lists: lists, beat: beat}
		for n := range 20 {
			if err := store.Delete(t.Context(), lists.LeaseOf("other")); err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Fatal(err)
			}
			if _, _, err := store.PutIfAbsent(t.Context(), lists.LeaseOf("other"), Word{Said: time.Now()}.encode("other", life), life); err != nil {
				t.Fatal(err)
			}
			if stands, err := s.Stands(t.Context(), "other"); !stands || err != nil {
				t.Fatalf("at beat %d: got %v, %v", n, stands, err)
			}
			if record, err := store.Get(t.Context(), lists.LeaseOf("other")); err != nil || record.Version != 1 {
				t.Fatalf("at beat %d: got %+v, %v: it was ended", n, record, err)
			}
			time.Sleep(beat)
		}
	})
}

// An outage of the store says nothing of a lease.
func TestALeaseThatCannotBeReadIsNotEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		s := &Silences{lists: Lists{&unread{err: away}}, beat: time.Second}
		if _, err := s.Stands(t.Context(), "other"); !errors.Is(err, away) {
			t.Errorf("got %v", err)
		}
	})
}

// unread is a store that cannot be read.
type unread struct {
	Store
	err error
}

func (u *unread) Get(context.Context, string) (storage.Record, error) { return storage.Record{}, u.err }
