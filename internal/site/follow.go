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

// Prepared is another configuration that a site can use.
type Prepared struct {
	generation *generation
	change     config.Change
}

// Prepare makes a generation of what can be applied of next. It reads files, for as long as their disks take, and changes nothing. An
// error joins all that is wrong, each says of which key it is. It is called by one at a time; what is prepared is used, or dropped.
func (s *Site) Prepare(next config.Config) (*Prepared, error) {
	now := s.Config()
	badCerts := judgeCerts(now, next)
	cfg, change := now.Follow(next)
	var clashes []error
	for _, f := range cfg.Clashes(next, change) {
		clashes = append(clashes, at(f.Key, errors.New(f.Message)))
	}
	if err := reload.Join(clashes...); err != nil {
		return nil, err
	}
	g, err := s.newGeneration(cfg)
	if err == nil && badCerts != nil {
		g.drop()
	}
	if err := reload.Join(badCerts, err); err != nil {
		return nil, err
	}
	change.Applied = append(change.Applied, g.renewedSecrets(s.now.Load())...)
	change.Restart = withStale(change.Restart, s.secrets, cfg.StartSecrets())
	return &Prepared{g, change}, nil
}

// Drop lets go of what is not to be used.
func (p *Prepared) Drop() { p.generation.drop() }

// Use has it count, before another one is prepared. An error leaves all as it was.
func (p *Prepared) Use(ctx context.Context) (config.Change, error) {
	s := p.generation.site
	if err := s.addTasks(ctx, p.generation); err != nil {
		p.Drop()
		return config.Change{}, at("upgrade", err)
	}
	s.use(p.generation)
	return p.change, nil
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
