package command

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"berth/internal/config"

	"github.com/urfave/cli/v2"
)

// configured is what the command line of serve amounts to, with a file of that text if
// there is any.
func configured(t *testing.T, file string, args ...string) (config.Config, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "berth.toml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	var cfg config.Config
	app := &cli.App{Flags: serveFlags(), DisableSliceFlagSeparator: true, Action: func(c *cli.Context) (err error) {
		cfg, _, err = configure(c)
		return err
	}}
	return cfg, app.Run(append([]string{"serve"}, args...))
}

const oneUpstream = "--upstream=a=http://127.0.0.1:1/mcp"

// A file with rules alone leaves the fleet to the flags.
func TestRulesOfAFileGoWithUpstreamsOfFlags(t *testing.T) {
	cfg, err := configured(t, "[[upgrade]]\ntools = [\"slow\"]\npool = \"default\"\n", oneUpstream)
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Pools) != 1 || len(cfg.Pools[0].Upstreams) != 1 || len(cfg.Upgrades) != 1 || cfg.Upgrades[0].Tools[0] != "slow" {
		t.Errorf("got pools %+v and rules %+v, want one of each", cfg.Pools, cfg.Upgrades)
	}
}

func TestUpgradeFlagsAreOneRuleBehindThoseOfTheFile(t *testing.T) {
	of := func(tools ...string) config.Upgrade {
		rule := config.DefaultUpgrade()
		rule.Tools = tools
		return rule
	}
	for _, tt := range []struct {
		name, file string
		args       []string
		want       []config.Upgrade
	}{
		{"no rule", "", nil, nil},
		{"flags alone", "", []string{"--upgrade", "slow_*", "--upgrade=b,c"}, []config.Upgrade{of("slow_*", "b,c")}},
		{"behind the file's", "[[upgrade]]\ntools = [\"slow\"]\n", []string{"--upgrade", "*"}, []config.Upgrade{of("slow"), of("*")}},
	} {
		cfg, err := configured(t, tt.file, append(tt.args, oneUpstream)...)
		if err != nil || !reflect.DeepEqual(cfg.Upgrades, tt.want) {
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, cfg.Upgrades, err, tt.want)
		}
	}
}

// Flags are judged as the file is, and what they say wrong is not blamed on it.
func TestUpgradeFlagsAreJudged(t *testing.T) {
	for _, tt := range []struct{ name, file, glob, want string }{
		{"a glob of another kind", "", "gen_[ab]", `upgrade[0].tools[0]: knows "*" and "?" only: write "?" for a bracket, a brace or a backslash, got "gen_[ab]"`},
		{"none left", "[[upgrade]]\ntools = [\"*\"]\n", "slow", `upgrade[1].tools[0]: never counts: upgrade[0].tools[0], "*", comes first`},
	} {
		if _, err := configured(t, tt.file, "--upgrade", tt.glob, oneUpstream); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestTheFlagSaysWhatCarriesHTTP1(t *testing.T) {
	for _, tt := range []struct {
		file string
		args []string
		want string
	}{
		{"", nil, "berth"},
		{"", []string{"--http1", "net/http"}, config.HTTP1NetHTTP},
		{"http1 = \"net/http\"\n", []string{"--http1", "berth"}, "berth"},
	} {
		if cfg, err := configured(t, tt.file, append(tt.args, oneUpstream)...); err != nil || cfg.HTTP1 != tt.want {
			t.Errorf("%q, %q: got %q, %v, want %q", tt.file, tt.args, cfg.HTTP1, err, tt.want)
		}
	}
	if _, err := configured(t, "", "--http1", "h3", oneUpstream); err == nil {
		t.Error("h3: no fault")
	}
}
