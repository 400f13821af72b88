package site

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"

	"berth/internal/config"
	"berth/internal/identity"
	"berth/internal/reload"
)

// Follow makes a generation of what can be applied of next, and uses it. An error joins all that is wrong, each says of which key it
// is, and leaves all as it was. It is called by one at a time.
func (s *Site) Follow(ctx context.Context, next config.Config) (config.Change, error) {
	now := s.Config()
	badCerts := judgeCerts(now, next)
	cfg, change := now.Follow(next)
	var clashes []error
	for _, f := range cfg.Clashes(next, change) {
		clashes = append(clashes, at(f.Key, errors.New(f.Message)))
	}
	if err := reload.Join(clashes...); err != nil {
		return config.Change{}, err
	}
	g, err := s.newGeneration(cfg)
	if err == nil && badCerts != nil {
		g.drop()
	}
	if err := reload.Join(badCerts, err); err != nil {
		return config.Change{}, err
	}
	if err := s.addTasks(ctx, g); err != nil {
		g.drop()
		return config.Change{}, at("upgrade", err)
	}
	change.Applied = append(change.Applied, g.renewedSecrets(s.now.Load())...)
	change.Restart = withStale(change.Restart, s.secrets, cfg.StartSecrets())
	s.use(g)
	return change, nil
}

// withStale adds to keys that need a restart those whose files hold other secrets now than at the start.
func withStale(keys []string, atStart, now map[string][sha256.Size]byte) []string {
	for _, key := range slices.Sorted(maps.Keys(atStart)) {
		if now[key] != atStart[key] && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// FetchKeys fails where keys of tokens are to come from another URL than now, and do not.
func (s *Site) FetchKeys(ctx context.Context, next config.Auth) error {
	if next.Principal != config.PrincipalJWT || !next.JWT.JWKSIsURL() {
		return nil
	}
	now := s.Config().Auth
	if now.Principal == config.PrincipalJWT && now.JWT.JWKS == next.JWT.JWKS {
		return nil
	}
	fetcher := identity.NewKeyFetcher(identity.FetcherOptions{URL: next.JWT.JWKS})
	defer fetcher.Close()
	if _, err := fetcher.Usable(ctx, next.JWT.Algorithms); err != nil {
		return at("auth.jwt.jwks", err)
	}
	return nil
}
