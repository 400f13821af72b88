package command

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/admin"
)

func TestReadyTellsByItsExitCode(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		text   string
		code   int
		out    string
	}{
		"ready":               {200, "[+]store ok\nreadyz: ok\n", 0, "ready\n"},
		"degraded":            {200, "[+]store degraded: away\n[+]pool ok\nreadyz: ok\n", 0, "[+]store degraded: away\nready\n"},
		"not ready":           {503, "[+]store ok\n[-]pool default: all silent\nreadyz: not ready\n", 1, "[-]pool default: all silent\n"},
		"draining":            {503, "draining\n", 1, "draining\n"},
		"the token is wanted": {401, "a bearer token is required\n", 1, ""},
		"not a berth":         {404, "404 page not found\n", 4, ""},
	} {
		t.Run(name, func(t *testing.T) {
			berth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("asked for %s", r.URL)
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.text))
			}))
			defer berth.Close()
			var out, trouble bytes.Buffer
			if code := Run(t.Context(), []string{"berth", "ready", "--admin", berth.URL}, &out, &trouble); code != test.code {
				t.Errorf("exit code %d, want %d: %s", code, test.code, &trouble)
			}
			if out.String() != test.out {
				t.Errorf("told %q, want %q", out.String(), test.out)
			}
		})
	}
}

// It speaks to the listener that berth has, with its token and by its socket.
func TestReadyAsksTheListenerItself(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := "unix:" + filepath.Join(dir, "admin.sock")
	server, err := admin.New(t.Context(), admin.Options{Listen: socket, Token: "secret", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	ask := func(args ...string) (int, string) {
		var out, trouble bytes.Buffer
		code := Run(t.Context(), append([]string{"berth", "ready", "--admin", socket, "--json"}, args...), &out, &trouble)
		return code, strings.Join(strings.Fields(out.String()), "") + trouble.String()
	}
	if code, told := ask("--admin-token-file", token); code != 0 || told != `{"ready":true,"checks":[]}` {
		t.Errorf("exit code %d, told %q", code, told)
	}
	if code, told := ask(); code != 1 || !strings.Contains(told, "wants its token") {
		t.Errorf("without the token: exit code %d, told %q", code, told)
	}
	server.SetDraining()
	if code, told := ask("--admin-token-file", token); code != 1 || told != "{\"ready\":false,\"checks\":[\"draining\"]}not ready\n" {
		t.Errorf("draining: exit code %d, told %q", code, told)
	}
}

// A berth that hangs answers nobody.
func TestReadyDoesNotWaitForEver(t *testing.T) {
	hang := make(chan struct{})
	berth := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer berth.Close()
	defer close(hang)
	var out, trouble bytes.Buffer
	code := Run(t.Context(), []string{"berth", "ready", "--admin", berth.URL, "--timeout", "20ms"}, &out, &trouble)
	if code != 4 || !strings.Contains(trouble.String(), "within 20ms") {
		t.Errorf("exit code %d, told %q", code, &trouble)
	}
}
