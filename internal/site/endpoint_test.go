package site

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"berth/internal/config"
	"berth/internal/parts"
	"berth/internal/relay"
)

// generationOf is one of a site that serves nobody.
func generationOf(auth config.Auth) *generation {
	cfg := config.Default()
	cfg.Auth = auth
	return &generation{site: &Site{mailbox: relay.New(nil, "", nil, nil), parts: parts.New()}, cfg: cfg}
}

// Whether there are principals is asked at two places, the router's and the proxy's.
// They must agree, or what is bound to nobody is told to everybody.
func TestPrincipalsAreWiredWhole(t *testing.T) {
	for principal, header := range map[string]string{
		config.PrincipalNone: "", config.PrincipalHeader + "X-User": "X-User", config.PrincipalCert: "", config.PrincipalJWT: "",
	} {
		auth := config.Default().Auth
		auth.Principal = principal
		auth.JWT.Issuer, auth.JWT.JWKS, auth.JWT.Resource = "https://issuer.test", "https://issuer.test/keys", "https://berth.test"
		pool := config.DefaultPool()
		pool.Upstreams = []config.Upstream{{URL: "http://127.0.0.1:9/mcp"}}
		g := generationOf(auth)
		var err error
		if g.callers, err = g.newCallers(auth); err != nil {
			t.Fatal(err)
		}
		ep, err := g.newEndpoint(pool)
		if err != nil {
			t.Fatal(err)
		}
		known := principal != config.PrincipalNone
		if ep.Router.Principals != known || (ep.Identifier != nil) != known {
			t.Errorf("%s: got principals %v in the router, identifier %v", principal, ep.Router.Principals, ep.Identifier)
		}
		if known && ep.Identifier.Header() != header {
			t.Errorf("%s: got header %q, want %q", principal, ep.Identifier.Header(), header)
		}
		if (ep.Resource != nil) != (principal == config.PrincipalJWT) {
			t.Errorf("%s: got resource %v", principal, ep.Resource)
		}
	}
}

// Pools of one path are told apart by their hosts, and so are their resources.
func TestEachPoolOfAPathIsAResourceOfItsOwn(t *testing.T) {
	auth := config.Default().Auth
	auth.Principal, auth.JWT.Issuer, auth.JWT.JWKS, auth.JWT.Resource = config.PrincipalJWT, "https://issuer.test", "https://issuer.test/keys", "https://berth.test"
	g := generationOf(auth)
	var err error
	if g.callers, err = g.newCallers(auth); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"a.test", "b.test"} {
		pool := config.DefaultPool()
		pool.Name, pool.Hosts, pool.Upstreams = host, []string{host}, []config.Upstream{{URL: "http://127.0.0.1:9/mcp"}}
		g.cfg.Pools = append(g.cfg.Pools, pool)
	}
	for _, pool := range g.cfg.Pools {
		ep, err := g.newEndpoint(pool)
		if err != nil {
			t.Fatal(err)
		}
		if told := string(ep.Resource.Document); !strings.Contains(told, `"resource":"https://`+pool.Name+pool.Path+`"`) {
			t.Errorf("%s: told %s", pool.Name, told)
		}
	}
}

// A pool answers for its hosts as browsers write them.
func TestHostsAreWiredAsBrowsersWriteThem(t *testing.T) {
	g := generationOf(config.Default().Auth)
	var err error
	if g.callers, err = g.newCallers(g.cfg.Auth); err != nil {
		t.Fatal(err)
	}
	pool := config.DefaultPool()
	pool.Hosts, pool.Upstreams = []string{"2001:DB8:0::5"}, []config.Upstream{{URL: "http://127.0.0.1:9/mcp"}}
	ep, err := g.newEndpoint(pool)
	if err != nil || !slices.Equal(ep.Hosts, []string{"2001:db8::5"}) {
		t.Errorf("got %+v, %v", ep, err)
	}
}

// Whether headers may lack is the pool's to say.
func TestLenienceIsWired(t *testing.T) {
	for _, headers := range []string{config.HeadersStrict, config.HeadersLenient} {
		pool := config.DefaultPool()
		pool.Upstreams, pool.Headers = []config.Upstream{{URL: "http://127.0.0.1:9/mcp"}}, headers
		g := generationOf(config.Default().Auth)
		g.callers = &callers{}
		ep, err := g.newEndpoint(pool)
		if err != nil || ep.Lenient != (headers == config.HeadersLenient) {
			t.Errorf("%s: got %v, %v", headers, ep.Lenient, err)
		}
	}
}

// A limit that is configured and not handed on would bound nothing, and nobody would
// notice.
func TestLimitsAreWiredWhole(t *testing.T) {
	cfg := config.Default()
	limits := reflect.ValueOf(&cfg.Limits).Elem()
	set := map[float64]string{} // a value of its own for each key
	for i := range limits.NumField() {
		value := 1000 + i
		switch field := limits.Field(i); field.Kind() {
		case reflect.Float64:
			field.SetFloat(float64(value))
		case reflect.Slice: // rules, which are wired by themselves
			continue
		default:
			field.SetInt(int64(value))
		}
		set[float64(value)] = limits.Type().Field(i).Name
	}
	wired := reflect.ValueOf(proxyOptions(cfg, nil, true, Observers{}).Limits)
	for i := range wired.NumField() {
		name, got := wired.Type().Field(i).Name, wired.Field(i).Convert(reflect.TypeFor[float64]()).Float()
		want := map[string]string{"Headers": "HeaderLines"}[name]
		if want == "" {
			want = name
		}
		if set[got] != want {
			t.Errorf("%s is given limits.%s, want %s", name, set[got], want)
		}
	}
}
