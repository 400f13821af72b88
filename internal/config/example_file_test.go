package config

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

const exampleFile = "../../config.example.toml"

// isOptional reports whether the example shows key commented out, because its value is
// not the default, or its table not there by default.
func isOptional(key string) bool {
	return key == "admin.listen" || strings.HasPrefix(key, "upgrade[].") || strings.HasPrefix(key, "limits.rate[].") ||
		strings.HasPrefix(key, "pools[].upstreams[].tls.") || slices.Contains(ofCommand, key)
}

// ofCommand are the keys of an upstream that berth runs: the example's have URLs.
var ofCommand = upstreamKeys("command", "replicas", "isolation", "cwd", "user", "env", "env_allow", "max_processes", "max_memory", "start_timeout", "idle", "max_life", "restart")

func upstreamKeys(names ...string) (keys []string) {
	for _, name := range names {
		keys = append(keys, "pools[].upstreams[]."+name)
	}
	return keys
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// exampleConfig is the configuration that the example must amount to.
func exampleConfig() Config {
	cfg, pool := Default(), DefaultPool()
	a, b := DefaultUpstream(), DefaultUpstream()
	a.Name, a.URL = "a", "http://127.0.0.1:7101/mcp"
	b.Name, b.URL = "b", "http://127.0.0.1:7102/mcp"
	pool.Upstreams = []Upstream{a, b}
	cfg.Pools = []Pool{pool}
	return cfg
}

func TestExampleShowsTheDefaults(t *testing.T) {
	got, err := Load(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	if want := exampleConfig(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// commented matches a key or a table that is commented out, but not prose.
var commented = regexp.MustCompile(`(?m)^# ([a-z_]+ = |\[upgrade[a-z.]+\]$|\[\[[a-z.]+\]\]$)`)

func TestExampleShowsEveryKeyAndCommentsOutOnlyTheOptional(t *testing.T) {
	shown := exampleKeys(t, readText(t, exampleFile))
	every := exampleKeys(t, commented.ReplaceAllString(readText(t, exampleFile), "$1"))
	want := tableKeys("", reflect.TypeFor[Config]())
	for _, key := range want {
		if !slices.Contains(every, key) {
			t.Errorf("the example lacks %s", key)
		}
		if hidden := !slices.Contains(shown, key); hidden != isOptional(key) {
			t.Errorf("%s: commented out %v, want %v", key, hidden, !hidden)
		}
	}
	for _, key := range every {
		if !slices.Contains(want, key) {
			t.Errorf("the example has %s, which is no key", key)
		}
	}
}

func TestExampleWithItsOptionalKeysIsValid(t *testing.T) {
	text := commented.ReplaceAllString(readText(t, exampleFile), "$1")
	cfg, err := Parse("example", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Admin.Listen != "127.0.0.1:9901" {
		t.Errorf("got admin.listen %q, want 127.0.0.1:9901", cfg.Admin.Listen)
	}
	rule := DefaultUpgrade()
	rule.Tools = []string{"generate_*", "slow_compute"}
	hook := defaultOf[Webhook]()
	hook.URL, hook.Secrets = "https://hooks.example.com/berth", []Secret{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="}
	rule.Webhooks = []Webhook{hook}
	if want := []Upgrade{rule}; !reflect.DeepEqual(cfg.Upgrades, want) {
		t.Errorf("got rules %+v, want %+v", cfg.Upgrades, want)
	}
}

// exampleKeys returns the keys that stand in text, written as tableKeys does.
func exampleKeys(t *testing.T, text string) []string {
	t.Helper()
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		t.Fatal(err)
	}
	var keys []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if strings.HasSuffix(path, ".env") { // its keys are the operator's own
				keys = append(keys, path)
				return
			}
			for name, child := range v {
				walk(joinKey(path, name), child)
			}
		case []map[string]any:
			for _, table := range v {
				walk(path+"[]", table)
			}
		default:
			keys = append(keys, path)
		}
	}
	walk("", tree)
	return keys
}

func TestEveryExampleKeySaysWhy(t *testing.T) {
	lines := strings.Split(readText(t, exampleFile), "\n")
	seen := map[string]bool{}
	for i, line := range lines {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "# "), " = ")
		if !ok || seen[name] || strings.Contains(name, " ") {
			continue
		}
		seen[name] = true
		if !strings.HasPrefix(lines[i-1], "# ") {
			t.Errorf("line %d: %s has no comment above it", i+1, name)
		}
	}
}

// docRow matches | `key` | `default` | in the tables of the guide.
var docRow = regexp.MustCompile("(?m)^\\| `([a-z0-9_.\\[\\]]+)` \\| `([^`]+)` \\| [^|]+ \\| [^|]+ \\|$")

func TestGuideShowsEveryKeyWithItsDefault(t *testing.T) {
	shown := map[string]string{}
	for _, row := range docRow.FindAllStringSubmatch(readText(t, "../../docs/configuration.md"), -1) {
		shown[row[1]] = row[2]
	}
	defaults := Default()
	defaults.Pools = []Pool{DefaultPool()}
	defaults.Pools[0].Upstreams = []Upstream{DefaultUpstream()}
	defaults.Limits.Rate = []RateLimit{defaultOf[RateLimit]()}
	defaults.Upgrades = []Upgrade{DefaultUpgrade()}
	defaults.Upgrades[0].Webhooks = []Webhook{defaultOf[Webhook]()}
	for _, key := range tableKeys("", reflect.TypeFor[Config]()) {
		literal, ok := shown[key]
		if !ok {
			t.Errorf("docs/configuration.md lacks %s", key)
			continue
		}
		delete(shown, key)
		want := valueAt(reflect.ValueOf(defaults), key)
		if got := readLiteral(t, literal, want.Type()); !reflect.DeepEqual(got, want.Interface()) {
			t.Errorf("docs/configuration.md: %s is %v, want %v", key, got, want)
		}
	}
	for key := range shown {
		t.Errorf("docs/configuration.md has %s, which is no key", key)
	}
}

func valueAt(v reflect.Value, key string) reflect.Value {
	for name := range strings.SplitSeq(key, ".") {
		bare := strings.TrimSuffix(name, "[]")
		v = v.Field(slices.Index(fieldNames(v.Type()), bare))
		if bare != name {
			v = v.Index(0)
		}
	}
	return v
}

// readLiteral reads a TOML literal the way the loader does.
func readLiteral(t *testing.T, literal string, as reflect.Type) any {
	t.Helper()
	var tree map[string]any
	if _, err := toml.Decode("v = "+literal, &tree); err != nil {
		t.Fatalf("%s: %v", literal, err)
	}
	into, d := reflect.New(as).Elem(), decoder{}
	d.value("v", tree["v"], into)
	if len(d.faults) > 0 {
		t.Fatal(fmt.Sprint(literal, d.faults))
	}
	return into.Interface()
}

// What clients meet at each limit stands on a page of its own; the keys of rules about tools stand on another.
func TestLimitsPageHasEachLimit(t *testing.T) {
	page := readText(t, "../../docs/limits.md")
	for _, key := range tableKeys("limits", reflect.TypeFor[Limits]()) {
		name := strings.TrimPrefix(key, "limits.")
		if !strings.HasPrefix(name, "rate[].") && !strings.Contains(page, "`"+key+"`") && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/limits.md lacks %s", key)
		}
	}
}
