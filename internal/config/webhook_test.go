package config

import (
	"strings"
	"testing"
)

const goodWebhook = `
[[pools]]
[[pools.upstreams]]
url = "http://127.0.0.1:7101/mcp"
[[upgrade]]
tools = ["a"]
[[upgrade.webhook]]
url = "https://hooks.example.com/x"
secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="]
[[upgrade]]
tools = ["b"]
[[upgrade.webhook]]
url = "https://hooks.example.com/x"
secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="]
events = ["failed", "input_required"]
`

func TestAWebhookBelongsToTheRuleAboveIt(t *testing.T) {
	cfg, err := Parse("f", []byte(goodWebhook))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"completed failed cancelled", "failed input_required"} {
		hooks := cfg.Upgrades[i].Webhooks
		if len(hooks) != 1 || hooks[0].EffectiveName() != "hooks.example.com" || strings.Join(hooks[0].Events, " ") != want {
			t.Errorf("rule %d: got %+v", i, hooks)
		}
	}
}

// Each fault names its key and its line, and none repeats a URL or a secret.
func TestFaultsOfWebhooks(t *testing.T) {
	const url, secret = `url = "https://hooks.example.com/x"`, `secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="]`
	for _, tt := range []struct {
		name, this, that, want string // the first of this is replaced
	}{
		{"no url", url, "", "f:7: upgrade[0].webhook[0].url: is missing"},
		{"no URL", url, `url = "hooks"`, `f:8: upgrade[0].webhook[0].url: must be a URL such as`},
		{"another scheme", url, `url = "ftp://hooks.example.com/T0PSECRET"`, "f:8: upgrade[0].webhook[0].url: must be a URL such as"},
		{"user", url, `url = "https://me:T0PSECRET@hooks.example.com/x"`, "f:8: upgrade[0].webhook[0].url: must have no user name or password"},
		{"http", url, `url = "http://hooks.example.com/T0PSECRET"`, "f:8: upgrade[0].webhook[0].url: must be https, unless allow_http is set"},
		{"fragment", url, `url = "https://hooks.example.com/x#T0PSECRET"`, "must have no fragment"},
		{"a private address", url, `url = "https://10.1.2.3/T0PSECRET"`, "f:8: upgrade[0].webhook[0].url: names 10.1.2.3: not an address of the public internet, and not in allow_private"},
		{"metadata", url, `url = "https://169.254.169.254/latest"`, "names 169.254.169.254"},
		{"mapped", url, `url = "https://[::ffff:127.0.0.1]/x"`, "names 127.0.0.1"},
		{"localhost", url, `url = "https://localhost/x"`, "names 127.0.0.1"},
		{"no secret", secret, "", "f:7: upgrade[0].webhook[0].secrets: or secret_file must be set, and not both"},
		{"both", secret, secret + "\nsecret_file = \"f\"", "upgrade[0].webhook[0].secrets: or secret_file must be set, and not both"},
		{"a short secret", secret, `secrets = ["whsec_VDBQU0VDUkVU"]`, `f:9: upgrade[0].webhook[0].secrets: secret 1 must be "whsec_"`},
		{"an event", secret, secret + "\n" + `events = ["done"]`, `f:10: upgrade[0].webhook[0].events[0]: must be one of completed, failed, cancelled, input_required, got "done"`},
		{"no events", secret, secret + "\n" + `events = []`, "upgrade[0].webhook[0].events: there must be at least one"},
		{"timeout", secret, secret + "\n" + `timeout = "1h"`, "f:10: upgrade[0].webhook[0].timeout: must be from 100ms to 1m"},
		{"backoff", secret, secret + "\n" + `max_backoff = "1s"`, "f:10: upgrade[0].webhook[0].max_backoff: must not be less than backoff, 5s"},
		{"unlike", secret, secret + "\n" + `timeout = "2s"`, "f:13: upgrade[1].webhook[0].name: is the name, or the host, of upgrade[0].webhook[0], which differs in more than events"},
		{"a slip", secret, secret + "\n" + `event = ["failed"]`, "f:10: upgrade[0].webhook[0].event: unknown key, did you mean events?"},
		{"twice", "[[upgrade]]\ntools = [\"b\"]", "", "is the name, or the host, of upgrade[0].webhook[0] already"},
		{"tls of http", url, "url = \"http://hooks.example.com/x\"\nallow_http = true\ntls.ca = \"f\"", "upgrade[0].webhook[0].tls: needs an https URL"},
	} {
		_, err := Parse("f", []byte(strings.Replace(goodWebhook, tt.this, tt.that, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
			continue
		}
		for _, told := range []string{"T0PSECRET", "VDBQU0VDUkVU", "whsec_Mf"} {
			if strings.Contains(err.Error(), told) {
				t.Errorf("%s: the fault tells a secret: %v", tt.name, err)
			}
		}
	}
}

func TestAllowPrivateLetsAReceiverBeNear(t *testing.T) {
	near := `url = "http://localhost:9999/x"
allow_http = true
allow_private = ["127.0.0.1"]
name = "near"`
	if _, err := Parse("f", []byte(strings.Replace(goodWebhook, `url = "https://hooks.example.com/x"`, near, 1))); err != nil {
		t.Error(err)
	}
}
