package site

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/config"
)

// begun is a site as cfg says that has begun, until the test ends.
func begun(t *testing.T, cfg config.Config) *Site {
	t.Helper()
	store, err := OpenStore(t.Context(), cfg, Observers{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), store, cfg, Observers{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.Begin(true)
	return s
}

// followNow has a configuration count at once.
func followNow(ctx context.Context, s *Site, next config.Config) (config.Change, error) {
	p, err := s.Prepare(next)
	if err != nil {
		return config.Change{}, err
	}
	return p.Use(ctx)
}

// A file that is read at the start alone is told of by its key as long as it holds another secret than then; blanks around it are none.
func TestAReloadTellsThatASecretFileNeedsARestart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cfg := config.Default()
	cfg.Store.URLFile, cfg.Store.SealKeyFile, cfg.Admin.TokenFile = write("url", "memory:"), write("seal", strings.Repeat("A", 44)), write("token", "one")
	s := begun(t, cfg)
	told := func(next config.Config, want ...string) {
		t.Helper()
		change, err := followNow(t.Context(), s, next)
		if err != nil || len(change.Applied) > 0 || fmt.Sprint(change.Restart) != fmt.Sprint(want) {
			t.Errorf("told %v, %v, want %v to need a restart", change, err, want)
		}
	}
	told(cfg)
	write("token", "two")
	told(cfg, "admin.token_file")
	write("url", "memory: ")
	told(cfg, "admin.token_file")
	write("url", "file:/elsewhere")
	write("seal", strings.Repeat("B", 44))
	told(cfg, "admin.token_file", "store.seal_key_file", "store.url_file")
	moved := cfg
	moved.Admin.TokenFile = write("other", "one")
	told(moved, "admin.token_file", "store.seal_key_file", "store.url_file")
	write("token", "one\n")
	write("url", "memory:")
	if err := os.Remove(filepath.Join(dir, "seal")); err != nil {
		t.Fatal(err)
	}
	told(cfg, "store.seal_key_file")
	write("seal", strings.Repeat("A", 44))
	told(cfg)
}
