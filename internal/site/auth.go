package site

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"berth/internal/admin"
	"berth/internal/config"
	"berth/internal/identity"
	"berth/internal/parts"
	"berth/internal/reload"
	"berth/proxy"
)

type keys interface {
	identity.Keys
	Run(ctx context.Context) error
	Ready() (ok bool, detail string)
	Usable(ctx context.Context, algorithms []string) (int, error)
}

// callers tells how it is told who calls. The keys of tokens are one for all pools.
type callers struct {
	auth config.Auth
	keys keys // nil: there are no tokens
}

func (g *generation) newCallers(auth config.Auth) (c *callers, err error) {
	c = &callers{auth: auth}
	if auth.Principal != config.PrincipalJWT {
		return c, nil
	}
	c.keys, err = share(g, "jwks "+auth.JWT.JWKS, func() (keys, parts.Life, error) { return newKeys(auth.JWT, g.site.Observers) })
	return c, err
}

func newKeys(cfg config.JWT, o Observers) (keys, parts.Life, error) {
	if cfg.JWKSIsURL() {
		f := identity.NewKeyFetcher(identity.FetcherOptions{URL: cfg.JWKS, Logger: o.Log, Meter: o.Meter})
		return f, parts.Life{Run: f.Run, End: func(context.Context) { f.Close() }}, nil
	}
	f, err := identity.OpenKeyFile("auth.jwt.jwks", cfg.JWKS, o.Log, o.Meter)
	if err != nil {
		return nil, parts.Life{}, err
	}
	return f, parts.Life{Run: f.Run}, nil
}

// at returns what tells who calls one of these pools, and what clients without a token are told; nil for
// neither.
func (c *callers) at(pool config.Pool, pools []config.Pool) (proxy.Identifier, *proxy.Resource, error) {
	if name, ok := c.auth.Header(); ok {
		return identity.Header(name), nil, nil
	}
	switch c.auth.Principal {
	case config.PrincipalCert:
		return identity.Cert{}, nil, nil
	case config.PrincipalJWT:
		return c.tokens(pool, pools)
	}
	return nil, nil, nil
}

func (c *callers) tokens(pool config.Pool, pools []config.Pool) (proxy.Identifier, *proxy.Resource, error) {
	cfg := c.auth.JWT
	target, err := url.Parse(cfg.ResourceOf(pool, pools))
	if err != nil {
		return nil, nil, fmt.Errorf("auth.jwt.resource: %w", err)
	}
	resource := identity.Resource{URL: target, AuthorizationServers: cfg.AuthorizationServers, Scopes: cfg.Scopes}
	if len(resource.AuthorizationServers) == 0 {
		resource.AuthorizationServers = []string{cfg.Issuer}
	}
	identifier := &identity.JWT{
		Issuer:     cfg.Issuer,
		Audience:   cfg.Audience,
		Algorithms: cfg.Algorithms,
		Leeway:     time.Duration(cfg.Leeway),
		Resource:   resource,
		Keys:       c.keys,
	}
	for _, typ := range cfg.Types {
		identifier.Types = append(identifier.Types, identity.MediaType(typ))
	}
	return identifier, &proxy.Resource{Path: resource.MetadataPath(), Document: resource.Metadata()}, nil
}

var errAuthorization = errors.New(`must hold what stands in the header, such as "Bearer …"`)

// newAuthorization returns what replaces the callers' Authorization header; nil if that is passed
// on.
func (g *generation) newAuthorization(pool config.Pool) (*proxy.Authorization, error) {
	switch {
	case pool.Authorization == config.AuthorizationForward:
		return nil, nil
	case pool.Authorization == config.AuthorizationStrip:
		return new(proxy.Authorization), nil
	case pool.AuthorizationValueFile == "":
		return &proxy.Authorization{Value: func() string { return string(pool.AuthorizationValue) }}, nil
	}
	path := pool.AuthorizationValueFile
	value, err := share(g, "authorization "+path, func() (*reload.Value[string], parts.Life, error) {
		value, err := reload.Open(reload.Options{
			What:   "authorization",
			Files:  []reload.File{{Key: "authorization_value_file", Path: path}},
			Logger: g.site.Log, Meter: g.site.Meter,
		}, parseAuthorization)
		if err != nil {
			return nil, parts.Life{}, err
		}
		return value, parts.Life{Run: value.Run}, nil
	})
	if err != nil {
		return nil, err
	}
	return &proxy.Authorization{Value: value.Get}, nil
}

func parseAuthorization(contents [][]byte) (string, error) {
	value := strings.TrimSpace(string(contents[0]))
	if !config.ValidAuthorization(value) {
		return "", errAuthorization
	}
	return value, nil
}

func (g *generation) authChecks() (checks []admin.Check) {
	if keys := g.callers.keys; keys != nil {
		checks = append(checks, admin.Check{Name: "jwks", Probe: keys.Ready})
	}
	return checks
}
