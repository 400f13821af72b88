package identity

import (
	"context"
	"errors"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// errNoneFits says that no token could be verified, however good.
var errNoneFits = errors.New("none of the keys is for an accepted algorithm")

// Usable fetches the keys once, beside Run, and returns how many are for one of
// algorithms. None is an error.
func (f *KeyFetcher) Usable(ctx context.Context, algorithms []string) (int, error) {
	keys, err := f.fetch(ctx)
	if err != nil {
		return 0, err
	}
	return keys.usable(algorithms)
}

// Usable returns how many of the keys in use are for one of algorithms. None is an error.
func (f *KeyFile) Usable(_ context.Context, algorithms []string) (int, error) {
	return f.current.Get().usable(algorithms)
}

func (s *keySet) usable(algorithms []string) (count int, err error) {
	for i := range s.keys {
		if slices.ContainsFunc(algorithms, func(name string) bool { return fits(&s.keys[i], jose.SignatureAlgorithm(name)) }) {
			count++
		}
	}
	if count == 0 {
		return 0, errNoneFits
	}
	return count, nil
}
