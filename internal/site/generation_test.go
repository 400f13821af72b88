package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/config"
	"berth/internal/parts"
	"berth/internal/reload"
)

// What a file names that cannot be used is told by its key, and leaves nothing in use.
func TestAGenerationThatCannotBeMadeNamesTheKey(t *testing.T) {
	cfg := config.Default()
	for range 2 {
		cfg.Pools = append(cfg.Pools, config.DefaultPool())
	}
	cfg.Pools[1].Authorization, cfg.Pools[1].AuthorizationValueFile = config.AuthorizationReplace, "/nowhere/value"
	s := generationOf(cfg.Auth).site
	_, err := s.newGeneration(cfg)
	if keyed, ok := errors.AsType[*keyedError](err); !ok || keyed.key != "pools[1].authorization_value_file" {
		t.Errorf("got %v", err)
	}
	gone := false
	if _, _ = share(&generation{site: s}, "pool "+cfg.Pools[0].Name, func() (pool, parts.Life, error) { gone = true; return pool{}, parts.Life{}, nil }); !gone {
		t.Error("a pool of it is left")
	}
}

// What a source needs of the disk is judged as it begins to be followed, and not when something else is read anew.
func TestASourceIsFollowedOnlyIfItsFilesAreThere(t *testing.T) {
	authority, token := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "token")
	cfg := config.Default()
	pool := config.DefaultPool()
	pool.Discover.Kubernetes = config.Kubernetes{Service: "mcp", Namespace: "default", API: "https://127.0.0.1:1", CAFile: authority, TokenFile: token}
	cfg.Pools = []config.Pool{pool}
	s := generationOf(cfg.Auth).site
	refused := func(cfg config.Config) {
		t.Helper()
		_, err := s.newGeneration(cfg)
		var keys []string
		for _, one := range reload.Each(err) {
			keys = append(keys, KeyOf(one))
		}
		if want := []string{"pools[0].discover.kubernetes.token_file", "pools[0].discover.kubernetes.ca_file"}; !slices.Equal(keys, want) {
			t.Errorf("got %v: %v, want %v", keys, err, want)
		}
	}
	refused(cfg)
	certstest.Write(t, authority, certstest.New(t).PEM())
	certstest.Write(t, token, []byte("secret"))
	g, err := s.newGeneration(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.now.Store(g)
	for _, path := range []string{authority, token} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	other := cfg
	other.Pools = []config.Pool{pool}
	other.Pools[0].Path, other.Pools[0].Discover.Linger = "/other", config.Duration(time.Hour)
	if _, err := s.newGeneration(other); err != nil {
		t.Errorf("what has nothing to do with it: %v", err)
	}
	other.Pools[0].Discover.Kubernetes.Service = "another"
	refused(other)
}

// A pod has its own files: they are in no key.
func TestAPodsOwnFilesAreFaultsOfTheirTable(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	if _, err := os.Stat(podFiles); err == nil {
		t.Skip("this is a pod")
	}
	cfg, pool := config.Default(), config.DefaultPool()
	pool.Discover.Kubernetes = config.Kubernetes{Service: "mcp"}
	cfg.Pools = []config.Pool{pool}
	_, err := generationOf(cfg.Auth).site.newGeneration(cfg)
	if all := reload.Each(err); len(all) != 3 || KeyOf(all[0]) != "pools[0].discover.kubernetes" {
		t.Errorf("got %v", err)
	}
}

// Whoever has joined a generation has it to the end, and nobody joins one that has ended.
func TestAGenerationEndsWithItsLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &generation{site: &Site{parts: parts.New()}}
		g.users.Store(1)
		ended := false
		_, _ = share(g, "key", func() (int, parts.Life, error) {
			return 0, parts.Life{End: func(context.Context) { ended = true }}, nil
		})
		if !g.join() {
			t.Fatal("the newest cannot be joined")
		}
		g.leave() // it is not the newest any more
		synctest.Wait()
		if ended {
			t.Fatal("it ended under a request")
		}
		g.leave()
		synctest.Wait()
		if !ended || g.join() {
			t.Errorf("ended: %v, and is joined", ended)
		}
	})
}
