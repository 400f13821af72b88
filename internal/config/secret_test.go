package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const canary = "c4narY-s3cret"

// TestNoFaultRepeatsASecret writes the secret in every way that an operator gets
// it wrong: without quotes, as a number's neighbour, in the wrong scheme, with
// characters that end a URL early.
func TestNoFaultRepeatsASecret(t *testing.T) {
	files := []string{
		"[admin]\ntoken = " + canary,
		"[admin]\ntoken = '" + canary,
		"[admin]\ntoken = \"" + canary + "\nlisten = \"x\"",
		"[admin]\ntoken = \"" + canary + "\" x",
		"[admin]\ntoken = \"" + canary + "\\q\"",
		"[admin]\ntoken = [\"" + canary + "\"]",
		"[admin]\ntoken = { value = \"" + canary + "\" }",
		"[admin]\ntoken = \"" + canary + " \"\nlisten = \":1\"",
		"[admin]\ntokn = \"" + canary + "\"",
		"[admin]\ntoken = 1-" + canary,
		"[admin]\ntoken = 0x" + canary,
		"[store]\nseal_key = \"" + canary + "\"",
		"[store]\nurl = \"redis://u:" + canary + "@h:port/0\"",
		"[store]\nurl = \"redis://u:" + canary + "%zz@h/0\"",
		"[store]\nurl = \"redis://u:" + canary + "\\u0001@h/0\"",
		"[store]\nurl = \"reds://u:" + canary + "@h/0\"",
		"[store]\nurl = \"redis+sentinel://u:" + canary + "@h1,h2\"",
		"[store]\nurl = \"redis+cluster://h1,h2/0?sentinel_password=" + canary + "\"",
		"[store]\nurl = \"redis://" + canary + "@/0\"",
		"[store]\nurl = \"" + canary + "\"",
		"[store]\nurl = redis://u:" + canary + "@h/0",
		"[telemetry]\ntraces = \"http://u:" + canary + "@h\"",
		"[telemetry]\ntraces = \"http://u:" + canary + "%zz@h\"",
		"[[pools]]\n[[pools.upstreams]]\nurl = \"http://u:" + canary + "@h/mcp\"",
		"[[pools]]\n[[pools.upstreams]]\nurl = \"http://h/mcp?key=" + canary + "\"",
		"[[pools]]\n[[pools.upstreams]]\nurl = \"ftp://u:" + canary + "@h\"",
	}
	for _, file := range files {
		_, err := Parse("c.toml", []byte(file))
		if err == nil {
			t.Errorf("%q: got no fault", file)
		} else if strings.Contains(err.Error(), canary) {
			t.Errorf("%q: the fault repeats the secret: %v", file, err)
		}
	}
}

// A number is a bad token, but an operator may well have chosen one.
func TestNoSyntaxFaultRepeatsANumber(t *testing.T) {
	for _, number := range []string{"99999999999999999999", "0123456789012", "1234567890__1", "1e99999999", "+0x12345678", "123456.", "0b123456789", "1979-13-27", "1987-07-05T17:45:00Q"} {
		_, err := Parse("c.toml", []byte("[admin]\ntoken = "+number))
		if err == nil || strings.Contains(err.Error(), number) || strings.Contains(err.Error(), number[1:len(number)-1]) {
			t.Errorf("%s: got %v, want a fault without it", number, err)
		}
	}
}

func TestSyntaxFaultsKeepTheNamesOfKeys(t *testing.T) {
	_, err := Parse("c.toml", []byte("[limits]\nbody = 1\nbody = 2\n"))
	if err == nil || !strings.Contains(err.Error(), "limits.body") {
		t.Errorf("got %v, want limits.body named", err)
	}
}

func TestConfigDoesNotPrintItsSecrets(t *testing.T) {
	cfg := Default()
	cfg.Admin.Token, cfg.Store.URL = canary, "redis://u:"+canary+"@h/0"
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+"\n", cfg)
		fmt.Fprintf(&out, verb+"\n", cfg.Admin.Token)
	}
	if err := json.NewEncoder(&out).Encode(cfg); err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("config", "config", cfg, "token", cfg.Admin.Token)
	slog.New(slog.NewTextHandler(&out, nil)).Info("config", "config", cfg, "token", cfg.Admin.Token)
	if strings.Contains(out.String(), canary) || strings.Contains(out.String(), fmt.Sprintf("%x", canary)) {
		t.Errorf("a secret is printed: %s", out.String())
	}
	if !strings.Contains(out.String(), redacted) {
		t.Errorf("got %s, want placeholders", out.String())
	}
}

func TestReadTokenTakesTheFileAtTheCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for _, tt := range []struct {
		content, want string
		err           error
	}{
		{" " + canary + "\n", canary, nil},
		{"\n", "", ErrToken},
		{canary + " " + canary, "", ErrToken},
		{strings.Repeat("x", maxToken+1), "", ErrToken},
	} {
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Admin{TokenFile: path}.ReadToken()
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%.20q: got %q, %v, want %q, %v", tt.content, got, err, tt.want, tt.err)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("the error repeats the token: %v", err)
		}
	}
}
