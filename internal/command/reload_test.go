package command

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"berth/internal/config"
)

// A file whose disk does not answer keeps nobody from going.
func TestAReadingThatHangsIsNotWaitedFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	synctest.Test(t, func(t *testing.T) {
		disk := make(chan struct{})
		l := &reloader{reading: reading{file: file, load: func() (config.Config, *config.Source, error) {
			<-disk
			return config.Config{}, nil, nil
		}}}
		told := make(chan error, 1)
		go func() {
			_, err := l.reload(t.Context(), "operator")
			told <- err
		}()
		synctest.Wait()
		ctx, end := context.WithCancel(t.Context())
		end()
		if err := l.Run(ctx, nil); err != nil {
			t.Error(err)
		}
		close(disk)
		if err := <-told; !errors.Is(err, errDraining) {
			t.Errorf("the reading: %v, want %v", err, errDraining)
		}
	})
}

// Nor does one that the file names.
func TestAFileThatIsNamedAndHangsIsNotWaitedFor(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "slow")
	if err := syscall.Mkfifo(slow, 0o600); err != nil {
		t.Skip("there are no pipes with names:", err)
	}
	cfg := config.Default()
	cfg.Store.URL = "memory:"
	s := serving(t, cfg)
	pool := config.DefaultPool()
	pool.Authorization, pool.AuthorizationValueFile = config.AuthorizationReplace, slow
	pool.Upstreams = []config.Upstream{{URL: "http://127.0.0.1:9/mcp"}}
	next := cfg
	next.Pools = []config.Pool{pool}
	l := newReloader(reading{file: filepath.Join(t.TempDir(), "config.toml"), load: func() (config.Config, *config.Source, error) { return next, nil, nil }}, nil, s, nil)
	told := make(chan error, 1)
	go func() {
		_, err := l.reload(t.Context(), "operator")
		told <- err
	}()
	disk, err := os.OpenFile(slow, os.O_WRONLY, 0) // once it is read
	if err != nil {
		t.Fatal(err)
	}
	if !l.mu.TryLock() {
		t.Fatal("who goes waits for the disk")
	}
	l.closed = true
	l.mu.Unlock()
	if _, err := disk.WriteString("Bearer one"); err != nil {
		t.Error(err)
	}
	disk.Close()
	if err := <-told; !errors.Is(err, errDraining) {
		t.Errorf("the reading: %v, want %v", err, errDraining)
	}
	if s.Generations() != 1 {
		t.Error("what was read is in use")
	}
}

// A start may take long, as one that waits for the berth before to let go of a file. What a watched file says since is taken over.
func TestAFileThatChangesDuringTheStartIsTakenOver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	write := func(limit string) {
		t.Helper()
		text := "watch = true\n[store]\nurl = \"memory:\"\n[limits]\nbatch = " + limit + "\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("7")
	r := newReading(file, func() (config.Config, *config.Source, error) { return config.Read(file) })
	cfg, source, err := r.load()
	if err != nil {
		t.Fatal(err)
	}
	write("8")
	s := serving(t, cfg)
	l := newReloader(r, source.Tell(cfg.Keys()), s, nil)
	l.look(t.Context(), l.look(t.Context(), ""))
	if got := s.Config().Limits.Batch; got != 8 {
		t.Errorf("limits.batch is %d in use, want what the file says", got)
	}
	reread := l.last.Load()
	l.look(t.Context(), l.look(t.Context(), ""))
	if l.last.Load() != reread {
		t.Error("a file that is in use is read anew")
	}
}

// Keys that cannot be fetched from another place than before leave all as it was.
func TestReloadIsRefusedWithoutTheKeysOfItsTokens(t *testing.T) {
	issuer := httptest.NewServer(http.NotFoundHandler())
	defer issuer.Close()
	auth := config.Auth{Principal: config.PrincipalJWT, JWT: config.JWT{JWKS: issuer.URL + "/typo", Algorithms: []string{"ES256"}}}
	for _, before := range []config.Auth{{}, {Principal: config.PrincipalJWT, JWT: config.JWT{JWKS: issuer.URL}}} {
		inUse := config.Default()
		inUse.Auth, inUse.Store.URL = before, "memory:"
		s := serving(t, inUse)
		l := newReloader(reading{file: filepath.Join(t.TempDir(), "config.toml"), load: func() (config.Config, *config.Source, error) {
			return config.Config{Auth: auth}, nil, nil
		}}, nil, s, nil)
		_, err := l.reload(t.Context(), "operator")
		if faults, ok := errors.AsType[config.Faults](err); !ok || faults[0].Key != "auth.jwt.jwks" {
			t.Errorf("from %q: %v, want a fault of auth.jwt.jwks", before.JWT.JWKS, err)
		}
		if s.Digest() != inUse.Digest() || s.Generations() != 1 {
			t.Error("what was in use is not any more")
		}
		if err := s.FetchKeys(t.Context(), before); err != nil {
			t.Errorf("from %q: the place of before is asked: %v", before.JWT.JWKS, err)
		}
	}
}
