package config

import (
	"encoding/json"
	"strings"
	"testing"
)

const tellable = `
listen = "127.0.0.1:8081"
[admin]
token = "CANARY-token"
[store]
url = "redis://user:CANARY-store@127.0.0.1:6379/0"
seal_key = "Q0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZ"
[[pools]]
authorization = "replace"
authorization_value = "Bearer CANARY-bearer"
timeouts = { read = "11s" }
[[pools.upstreams]]
name = "a"
url = "http://127.0.0.1:7101/mcp"
[[pools.upstreams]]
name = "b"
command = ["server", "--key=CANARY-argument"]
env = { KEY = "CANARY-variable" }
[[limits.rate]]
tools = ["x"]
rate = "100/m"
`

func TestKeysShowNoSecret(t *testing.T) {
	cfg, err := Parse("f", []byte(tellable))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(cfg.Keys())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"CANARY", "Q0FOQVJZ"} {
		if at := strings.Index(string(text), secret); at >= 0 {
			t.Errorf("a secret is shown: …%s…", text[max(0, at-60):min(len(text), at+40)])
		}
	}
	values := map[string]any{}
	for _, k := range cfg.Keys() {
		values[k.Key] = k.Value
	}
	for key, want := range map[string]any{
		"listen": "127.0.0.1:8081", "admin.token": Withheld, "store.seal_key_file": "", "pools[0].timeouts.read": "11s", "pools[0].timeouts.call": "0s",
		"pools[0].upstreams[0].url": "http://127.0.0.1:7101/mcp", "pools[0].upstreams[0].weight": 1, "limits.rate[0].rate": "100/m", "limits.polls": "10000/s", "watch": false,
	} {
		if got := values[key]; got != want {
			t.Errorf("%s: got %#v, want %#v", key, got, want)
		}
	}
}

// Berths behind one address differ in where they listen, and in nothing else.
func TestDigestTellsConfigurationsApart(t *testing.T) {
	parse := func(text string) Config {
		cfg, err := Parse("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	one := parse(tellable)
	if other := parse(strings.Replace(tellable, "8081", "8082", 1)); other.Digest() != one.Digest() {
		t.Error("another port makes another digest")
	}
	if other := parse(strings.Replace(tellable, "11s", "12s", 1)); other.Digest() == one.Digest() {
		t.Error("another time-out makes no other digest")
	}
}
