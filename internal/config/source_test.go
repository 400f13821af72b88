package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASourceTellsWhereEachKeyIsFrom(t *testing.T) {
	t.Setenv("APP_PORT", "8123")
	t.Setenv("APP_TOKEN", "CANARY-token")
	t.Setenv("APP_ORIGIN", "https://canary.example")
	file := filepath.Join(t.TempDir(), "berth.toml")
	text := `listen = "127.0.0.1:${APP_PORT}"
drain = "31s"
[admin]
listen = "127.0.0.1:9901"
token = "${APP_TOKEN}"
[[pools]]
origins = ["https://one.example", "${APP_ORIGIN}"]
timeouts.read = "12s"
[[pools.upstreams]]
name = "a"
url = "http://127.0.0.1:1/mcp"
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, source, err := Read(file, func(c *Config) { c.Admin.Listen = "127.0.0.1:9902" })
	if err != nil {
		t.Fatal(err)
	}
	keys := source.Flagged(map[string]string{"admin.listen": "admin"}).Tell(cfg.Keys())
	got := map[string]Key{}
	for _, k := range keys {
		got[k.Key] = k
	}
	for key, want := range map[string][2]any{
		"listen":                    {"127.0.0.1:${APP_PORT}", "env:APP_PORT"},
		"drain":                     {"31s", "file:2"},
		"drain_delay":               {"0s", "default"},
		"admin.listen":              {"127.0.0.1:9902", "flag:--admin"},
		"admin.token":               {Withheld, "env:APP_TOKEN"},
		"pools[0].timeouts.read":    {"12s", "file:8"},
		"pools[0].timeouts.call":    {"0s", "default"},
		"pools[0].upstreams[0].url": {"http://127.0.0.1:1/mcp", "file:11"},
	} {
		if k := got[key]; k.Value != want[0] || k.Origin != want[1] {
			t.Errorf("%s: got %v from %s, want %v from %v", key, k.Value, k.Origin, want[0], want[1])
		}
	}
	if k := got["pools[0].origins"]; k.Origin != "env:APP_ORIGIN" {
		t.Errorf("origins are from %s", k.Origin)
	}
	all, _ := json.Marshal(keys)
	if strings.Contains(strings.ToLower(string(all)), "canary") {
		t.Errorf("what the environment gave is told: %s", all)
	}
	var none *Source
	if told := none.Tell([]Key{{Key: "listen"}}); told[0].Origin != "default" {
		t.Errorf("without a source: %+v", told)
	}
}
