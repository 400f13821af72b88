package site

import (
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"berth/internal/config"
	"berth/internal/parts"
	"berth/internal/storage/storagetest"
	"berth/internal/webhook"
	"berth/upgrade"
	"berth/upgrade/task"
)

const (
	secretText  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
	otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDAAAAAAAAAAA="
)

// hooked is a configuration with one rule and these receivers.
func hooked(hooks ...config.Webhook) config.Config {
	cfg := config.Default()
	rule := config.DefaultUpgrade()
	rule.Tools, rule.Webhooks = []string{"*"}, hooks
	cfg.Upgrades = []config.Upgrade{rule}
	return cfg
}

func newTestGeneration(t *testing.T, cfg config.Config) *generation {
	t.Helper()
	store := storagetest.OpenMemory(t)
	return &generation{site: &Site{store: store, parts: parts.New()}, cfg: cfg}
}

// What is configured of a receiver and not handed on would not hold, and nobody would notice.
func TestReceiversAreWiredWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secrets")
	if err := os.WriteFile(file, []byte(secretText+"\n"+otherSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hook := config.Webhook{URL: "https://Hooks.example.com/x", SecretFile: file}
	hook.Timeout, hook.Backoff, hook.MaxBackoff, hook.MaxAge = config.Duration(1), config.Duration(2), config.Duration(3), config.Duration(4)
	hook.Attempts, hook.Concurrency = 5, 6
	hook.AllowPrivate = []config.Prefix{{Prefix: netip.MustParsePrefix("10.0.0.0/8")}}
	hook.TLS.MinVersion = "1.3"
	again := hook
	again.Events = []string{"failed"}
	cfg := hooked(hook)
	cfg.Upgrades = append(cfg.Upgrades, hooked(again).Upgrades...)
	g := newTestGeneration(t, cfg)
	got, err := g.newReceivers(cfg)
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	old, _ := webhook.ParseSecret(secretText)
	next, _ := webhook.ParseSecret(otherSecret)
	want := upgrade.Receiver{
		Name: "hooks.example.com", Attempts: 5, Backoff: 2, MaxBackoff: 3, MaxAge: 4,
		Receiver: webhook.Receiver{
			URL: "https://Hooks.example.com/x", Secrets: [][]byte{old, next}, Timeout: 1, Concurrency: 6, Alone: 3,
			Guard: webhook.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		},
	}
	if got[0].Trust == nil {
		t.Error("tls is not handed on")
	}
	got[0].Trust = nil
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("got %+v, want %+v", got[0], want)
	}
	rules := upgradeRules(cfg)
	if hooks := rules[1].Webhooks; len(hooks) != 1 || hooks[0].Name != "hooks.example.com" || !reflect.DeepEqual(hooks[0].Events, []upgrade.News{task.NewsFailed}) {
		t.Errorf("got %+v", hooks)
	}
}

// A file that holds no secret is told by its key, and by nothing of what it holds.
func TestAFileWithoutSecretsSaysSo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secrets")
	if err := os.WriteFile(file, []byte(secretText+"\nhunter2hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := hooked(config.Webhook{URL: "https://hooks.example.com/path-that-is-secret", SecretFile: file})
	g := newTestGeneration(t, cfg)
	_, err := g.newReceivers(cfg)
	if err == nil || faultsIn(err)[0].Key != "upgrade[0].webhook[0]" || !strings.Contains(err.Error(), "secret 2") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "path-that") {
		t.Errorf("the error tells a secret: %v", err)
	}
}

// A reading by which nothing but the secrets in a file are others says so, once.
func TestAReloadTellsOfOtherSecrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secrets")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(secretText)
	cfg := hooked(config.Webhook{URL: "https://hooks.example.com/x", SecretFile: file})
	cfg.Store.URL = "memory:"
	s := begun(t, cfg)
	for _, step := range []struct{ text, told string }{
		{secretText, ""}, {secretText + "\n" + otherSecret, "upgrade[0].webhook[0].secret_file"}, {otherSecret + "\n", "upgrade[0].webhook[0].secret_file"}, {otherSecret, ""},
	} {
		write(step.text)
		change, err := followNow(t.Context(), s, cfg)
		if got := strings.Join(change.Applied, " "); err != nil || got != step.told || len(change.Restart) > 0 {
			t.Errorf("told %q, %v, want %q", got, err, step.told)
		}
	}
}
