package site

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/config"
)

// A credential of berth's own is renewed by whoever renews it, without a restart.
func TestReplacedAuthorizationFollowsItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "authorization")
		write := func(content string) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("Bearer one\n")
		pool := config.DefaultPool()
		pool.Authorization, pool.AuthorizationValueFile = config.AuthorizationReplace, path
		g := generationOf(config.Default().Auth)
		rule, err := g.newAuthorization(pool)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		g.site.parts.Begin(ctx)
		defer g.site.parts.Wait()
		defer stop()
		for _, c := range []struct{ content, want string }{{"Bearer two", "Bearer two"}, {"", "Bearer two"}, {"three", "Bearer two"}, {"Basic eA==", "Basic eA=="}} {
			write(c.content)
			time.Sleep(6 * time.Second)
			if got := rule.Value(); got != c.want {
				t.Errorf("with %q in the file: got %q, want %q", c.content, got, c.want)
			}
		}
	})
}

// What a file that cannot be used holds may be a secret all the same.
func TestUnusableAuthorizationIsNotRepeated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "authorization")
	if err := os.WriteFile(path, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := config.DefaultPool()
	pool.Authorization, pool.AuthorizationValueFile = config.AuthorizationReplace, path
	_, err := generationOf(config.Default().Auth).newAuthorization(pool)
	if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v, want an error that names the file and not what it holds", err)
	}
}
