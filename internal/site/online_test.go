package site

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/config"
)

// One look that hears nothing costs its own time, and the others nothing.
func TestLooksAreBoundedAndSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		looks := []look{
			{key: "deaf", see: func(context.Context) []Finding { <-free; return nil }},
			{key: "slow", see: func(ctx context.Context) []Finding { <-ctx.Done(); return []Finding{fault("slow", ctx.Err())} }},
			{key: "quick", see: func(context.Context) []Finding { return []Finding{fault("quick", errors.New("found"))} }},
		}
		began := time.Now()
		found := seeAll(t.Context(), append(looks, looks...))
		if took := time.Since(began); took != lookAbandoned {
			t.Errorf("took %v, want %v", took, lookAbandoned)
		}
		var keys []string
		for _, f := range found {
			keys = append(keys, f.Key)
		}
		if got := strings.Join(keys, " "); got != "deaf slow quick deaf slow quick" {
			t.Errorf("got findings of %s, want one of each look in their order", got)
		}
		close(free)
	})
}

func TestFindingIsOneLine(t *testing.T) {
	f := Finding{Key: "store.url", Text: "said:\n\x1b[31mhello\r", Warning: true}
	if got := f.String(); got != "store.url: warning: said:  [31mhello " {
		t.Errorf("got %q, want one line without control characters", got)
	}
}

// What an upstream is found to be weighs as much as it costs: not at all where clients
// bring what it asks for, little where it is to go anyway.
func TestFindingsOfUpstreamsAreWeighed(t *testing.T) {
	answer := func(status int) *httptest.Server {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(server.Close)
		return server
	}
	locked, vague, lost := answer(http.StatusUnauthorized), answer(http.StatusUnprocessableEntity), answer(http.StatusNotFound)
	for _, c := range []struct {
		url, authorization string
		drain              bool
		want               string // how the line goes on; "" if there is none
	}{
		{locked.URL, config.AuthorizationForward, false, ""},
		{locked.URL, config.AuthorizationStrip, false, "up ("},
		{vague.URL, config.AuthorizationForward, false, "warning: up ("},
		{lost.URL, config.AuthorizationForward, false, "up ("},
		{lost.URL, config.AuthorizationForward, true, "warning: up ("},
	} {
		cfg := config.Default()
		pool := config.DefaultPool()
		pool.Authorization = c.authorization
		pool.Upstreams = []config.Upstream{{Name: "up", URL: c.url + "/mcp", Drain: c.drain}}
		cfg.Pools = []config.Pool{pool}
		found := Inspect(t.Context(), cfg)
		switch {
		case c.want == "" && len(found) == 0:
		case c.want == "" || len(found) != 1 || !strings.HasPrefix(fmt.Sprint(found[0]), "pools[0].upstreams[0].url: "+c.want):
			t.Errorf("%+v: got %v", c, found)
		}
	}
}

// A wrong file keeps nothing else from being looked at.
func TestOneFindingHidesNoOther(t *testing.T) {
	const nowhere = "/nonexistent/file"
	cfg := config.Default()
	cfg.TLS.Cert, cfg.TLS.Key = nowhere, nowhere
	cfg.Admin.TokenFile, cfg.Store.SealKeyFile, cfg.Store.URL = nowhere, nowhere, config.Secret("file:"+nowhere)
	cfg.Auth.Principal, cfg.Auth.JWT.JWKS = config.PrincipalJWT, nowhere
	cfg.Log.Audit = "file:" + nowhere
	pool := config.DefaultPool()
	pool.Authorization, pool.AuthorizationValueFile = config.AuthorizationReplace, nowhere
	pool.Upstreams = []config.Upstream{{URL: "http://127.0.0.1:1/mcp"}}
	cfg.Pools = []config.Pool{pool, pool}
	got := Findings(Inspect(t.Context(), cfg)).Error()
	for _, key := range []string{"store.url", "store.seal_key_file", "admin.token_file", "log.audit", "tls", "auth.jwt.jwks", "pools[0]", "pools[0].upstreams[0].url", "pools[1]", "pools[1].upstreams[0].url"} {
		if !strings.Contains("\n"+got, "\n"+key+": ") {
			t.Errorf("got\n%s\nwant a line of %s", got, key)
		}
	}
}
