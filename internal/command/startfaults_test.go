package command

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/config"
	"berth/internal/site"
)

// startFaults are files, each with a key that names a file which is not there.
var startFaults = map[string]string{
	"pools[0].tls.ca":                      "[[pools]]\n[pools.tls]\nca = \"/nowhere\"\n[[pools.upstreams]]\nurl = \"https://127.0.0.1:9/mcp\"",
	"pools[0].tls.cert":                    "[[pools]]\n[pools.tls]\ncert = \"/nowhere\"\nkey = \"KEY\"\n[[pools.upstreams]]\nurl = \"https://127.0.0.1:9/mcp\"",
	"pools[0].upstreams[0].tls.ca":         "[[pools]]\n[[pools.upstreams]]\nurl = \"https://127.0.0.1:9/mcp\"\n[pools.upstreams.tls]\nca = \"/nowhere\"",
	"pools[0].discover.kubernetes.ca_file": "[[pools]]\n[pools.discover.kubernetes]\nservice = \"s\"\nnamespace = \"n\"\napi = \"https://h\"\nca_file = \"/nowhere\"",
	"tls.cert":                             "tls = { cert = \"/nowhere\", key = \"KEY\" }\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"",
	"admin.tls.cert":                       "[admin]\nlisten = \"127.0.0.1:0\"\ntoken = \"secret\"\n[admin.tls]\ncert = \"/nowhere\"\nkey = \"KEY\"\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"",
	"store.tls.ca":                         "[store]\nurl = \"rediss://127.0.0.1:9/0\"\ntls = { ca = \"/nowhere\" }\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"",
	"store.url_file":                       "[store]\nurl_file = \"/nowhere\"\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"",
	"store.seal_key_file":                  "[store]\nseal_key_file = \"/nowhere\"\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"",
	"admin.token_file":                     "[admin]\nlisten = \"127.0.0.1:0\"\ntoken_file = \"/nowhere\"\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"",
}

// What a file names that cannot be used is told at the start by file, line and key, as a reload tells it.
func TestTheStartTellsFaultsAsAReloadDoes(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for faulty, text := range startFaults {
		file := filepath.Join(t.TempDir(), "config.toml")
		text = "listen = \"127.0.0.1:0\"\n" + strings.ReplaceAll(text, "KEY", key)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		if code := Run(t.Context(), []string{"berth", "serve", "--config", file}, io.Discard, &told); code != 1 {
			t.Errorf("%s: got %d", faulty, code)
		}
		line := 1 + strings.Count(text[:strings.Index(text, "/nowhere")], "\n")
		last := told.String()[strings.LastIndex(strings.TrimSpace(told.String()), "\n")+1:]
		if want := fmt.Sprintf("%s:%d: %s: ", file, line, faulty); !strings.HasPrefix(last, want) {
			t.Errorf("%s: the start says %q, want it to begin with %s", faulty, last, want)
		}
		if err := reloaded(t, file); !strings.HasPrefix(faulty, "store.") && faulty != "admin.token_file" && strings.TrimSpace(last) != fmt.Sprint(err) {
			t.Errorf("%s: the start says %q, a reload %q", faulty, last, err)
		}
	}
}

// reloaded is what a berth without a word of TLS says of a file.
func reloaded(t *testing.T, file string) error {
	t.Helper()
	inUse := config.Default()
	inUse.Store.URL = "memory:"
	s := serving(t, inUse)
	l := newReloader(reading{file: file, load: func() (config.Config, *config.Source, error) { return config.Read(file) }}, nil, s, nil)
	_, err := l.reload(t.Context(), "operator")
	return err
}

// serving is a site that serves by a configuration, until the test ends.
func serving(t *testing.T, cfg config.Config) *site.Site {
	t.Helper()
	store, err := site.OpenStore(t.Context(), cfg, site.Observers{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := site.New(t.Context(), store, cfg, site.Observers{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.Begin(true)
	return s
}
