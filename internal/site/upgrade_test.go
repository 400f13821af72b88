package site

import (
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/upgrade"
	"berth/upgrade/task"
)

// A term that is configured and not handed on would not hold, and nobody would notice.
func TestRulesAreWiredWhole(t *testing.T) {
	cfg := config.Config{Store: config.Store{MaxTTL: config.Duration(time.Hour)}}
	cfg.Upgrades = make([]config.Upgrade, 1)
	set := reflect.ValueOf(&cfg.Upgrades[0]).Elem()
	want := map[string]any{} // a value of its own for each key
	for i := range set.NumField() {
		name, field := set.Type().Field(i).Name, set.Field(i)
		if hooks, ok := field.Addr().Interface().(*[]config.Webhook); ok {
			*hooks = []config.Webhook{{Name: name, Events: []string{"failed"}}}
			want[name] = name
			continue
		}
		switch field.Kind() {
		case reflect.String:
			field.SetString(name)
			want[name] = name
		case reflect.Bool:
			field.SetBool(true)
			want[name] = true
		case reflect.Slice:
			field.Set(reflect.ValueOf([]string{name}))
			want[name] = name
		default:
			field.SetInt(int64(1000 - i)) // a timeout that is shorter than the ttl is kept
			want[name] = int64(1000 - i)
		}
	}
	rule := reflect.ValueOf(upgradeRules(cfg)[0])
	if got := rule.NumField(); got != len(want) {
		t.Errorf("got %d fields of a rule, want the %d keys", got, len(want))
	}
	for i := range rule.NumField() {
		name, field := rule.Type().Field(i).Name, rule.Field(i)
		var got any
		if hooks, ok := field.Interface().([]upgrade.Webhook); ok {
			if got, want := hooks, []upgrade.Webhook{{Name: name, Events: []upgrade.News{task.NewsFailed}}}; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
			continue
		}
		switch field.Kind() {
		case reflect.String:
			got = field.String()
		case reflect.Bool:
			got = field.Bool()
		case reflect.Slice:
			got = field.Index(0).String()
		default:
			got = field.Int()
		}
		if got != want[name] {
			t.Errorf("%s: got %v, want %v", name, got, want[name])
		}
	}
}

func TestWhatARuleLeavesOpenIsFilledIn(t *testing.T) {
	rule := config.DefaultUpgrade()
	rule.Required, rule.TTL = true, config.Duration(time.Minute)
	got := upgradeRules(config.Config{Upgrades: []config.Upgrade{rule, config.DefaultUpgrade()}})
	if got[0].OnStoreDown != upgrade.StoreRefuse || got[0].Timeout != time.Minute {
		t.Errorf("required, a minute to live: got %+v", got[0])
	}
	if got[1].OnStoreDown != upgrade.StoreSync || got[1].Timeout != time.Hour || got[1].OnOrphan != task.OrphanFail {
		t.Errorf("defaults: got %+v", got[1])
	}
}

// What is warned of on memory: names the tasks, the results and the running calls, and
// nothing is where there are no rules, or the store keeps what it is given.
func TestRulesOnMemoryAreWarnedOf(t *testing.T) {
	rules := upgradeRules(config.Config{Upgrades: []config.Upgrade{config.DefaultUpgrade()}})
	for _, tt := range []struct {
		name, url string
		rules     upgrade.Rules
		want      int
	}{
		{"memory", "memory:", rules, 1},
		{"memory without rules", "memory:", nil, 0},
		{"a file", "file:" + filepath.Join(t.TempDir(), "berth.db"), rules, 0},
		{"shared", "redis://127.0.0.1:1", rules, 0},
	} {
		var journal realtest.Journal
		store, err := storage.Open(tt.url, storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		announceUpgrades(slog.New(slog.NewTextHandler(&journal, nil)), tt.rules, store, nil)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if got := journal.Count("level=WARN"); got != tt.want {
			t.Errorf("%s: got %d warnings, want %d:\n%s", tt.name, got, tt.want, &journal)
		}
		for _, word := range []string{"upgraded tasks", "results", "calls that are running"} {
			if tt.want > 0 && !strings.Contains(journal.String(), word) {
				t.Errorf("%s: got\n%swant %q in it", tt.name, &journal, word)
			}
		}
	}
}

func TestOnlineCheckWarnsOfRulesOnMemory(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", "")
	var cfg config.Config
	if found := lookAtRules(cfg); len(found) != 0 {
		t.Errorf("no rules: got %v, want nothing", found)
	}
	cfg.Upgrades = []config.Upgrade{config.DefaultUpgrade()}
	if found := lookAtRules(cfg); len(found) != 1 || !found[0].Warning || found[0].Key != "upgrade" {
		t.Errorf("got %v, want a warning of the rules", found)
	}
	cfg.Store.URL = "file:berth.db"
	if found := lookAtRules(cfg); len(found) != 0 {
		t.Errorf("in a file: got %v, want nothing", found)
	}
}
