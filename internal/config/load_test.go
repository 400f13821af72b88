package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// upstream is the least that a file must say.
const upstream = "[[pools.upstreams]]\nurl = \"http://127.0.0.1:1/mcp\"\n"

const minimal = "[[pools]]\n" + upstream

func TestParseReportsEveryFaultAtOnceWithItsLine(t *testing.T) {
	const file = `listen = 8080
drain = "soon"
trusted_proxies = [
  "10.0.0.0/8",
  "nonsense",
]
lisen = "127.0.0.1:1"

[log]
level = "loud"
access = "yes"
drain = "5s"

[limits]
body = "4MB"
idle = 30
batch = 0

[[pools]]
path = "mcp"
hosts = "a.example"
[pools.timeouts]
conect = "2s"
read = "0s"
[[pools.upstreams]]
name = "a"
url = "ftp://127.0.0.1/mcp"

[[pools]]
name = "second"
upstreams = [
  { name = "x", url = "http://h:1/", colour = 3 },
  { name = "x", url = "http://h:2/" },
]
`
	want := strings.TrimSpace(`
config.toml:1: listen: must be a string, got an integer
config.toml:2: drain: must be a duration with a unit, such as "30s", got "soon"
config.toml:5: trusted_proxies[1]: must be a CIDR or an IP address, such as "10.0.0.0/8", got "nonsense"
config.toml:7: lisen: unknown key, did you mean listen?
config.toml:10: log.level: must be one of debug, info, warn, error, got "loud"
config.toml:11: log.access: must be true or false, got a string
config.toml:12: log.drain: unknown key, did you mean the top-level drain (above the first [table])?
config.toml:15: limits.body: must be a size in bytes, such as 65536, "64KiB" or "4MiB", got "4MB"
config.toml:16: limits.idle: must be a string, got an integer
config.toml:17: limits.batch: must be from 1 to 10000, got 0
config.toml:20: pools[0].path: must begin with "/", got "mcp"
config.toml:21: pools[0].hosts: must be a list, got a string
config.toml:23: pools[0].timeouts.conect: unknown key, did you mean connect?
config.toml:24: pools[0].timeouts.read: must be from 1ms to 1h, got 0s
config.toml:27: pools[0].upstreams[0].url: must be http or https, got "ftp"
config.toml:32: pools[1].upstreams[0].colour: unknown key
config.toml:33: pools[1].upstreams[1].name: is the name of pools[1].upstreams[0] already`)
	_, err := Parse("config.toml", []byte(file))
	if _, ok := errors.AsType[Faults](err); !ok {
		t.Fatalf("got %T (%v), want Faults", err, err)
	}
	if got := err.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestParseGivesTheLineOfASyntaxError(t *testing.T) {
	_, err := Parse("c.toml", []byte("listen = \"a:1\"\n\n[log] level = 1\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "c.toml:3: is not TOML: ") || !strings.Contains(err.Error(), "'l'") {
		t.Errorf("got %v, want a fault of c.toml:3 that names 'l'", err)
	}
}

func TestParseReportsAKeyOnceIfItCannotBeRead(t *testing.T) {
	for _, file := range []string{"pools = 1", "[[pools]]\nupstreams = 1", "[[pools]]\n[[pools.upstreams]]\nurl = 1"} {
		_, err := Parse("c.toml", []byte(file))
		if faults, _ := errors.AsType[Faults](err); len(faults) != 1 {
			t.Errorf("%q: got %v, want one fault", file, err)
		}
	}
}

func TestParseStartsEachPoolFromTheDefaultPool(t *testing.T) {
	cfg, err := Parse("c.toml", []byte(minimal+"[[pools]]\nname = \"b\"\npath = \"/b\"\n[pools.timeouts]\nread = \"1s\"\n"+upstream))
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultPool().Timeouts
	if got := cfg.Pools[0].Timeouts; got != want {
		t.Errorf("pools[0].timeouts: got %v, want %v", got, want)
	}
	want.Read = Duration(1e9)
	if got := cfg.Pools[1].Timeouts; got != want {
		t.Errorf("pools[1].timeouts: got %v, want %v", got, want)
	}
}

func TestAListReplacesTheDefaultList(t *testing.T) {
	cfg, err := Parse("c.toml", []byte("trusted_proxies = [\"10.1.2.3\"]\n"+minimal))
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.TrustedProxies) != 1 || cfg.TrustedProxies[0].String() != "10.1.2.3/32" {
		t.Errorf("got %v, want 10.1.2.3/32 alone", cfg.TrustedProxies)
	}
}

func TestFlagsSupplyWhatTheFileLacks(t *testing.T) {
	cfg, err := Parse("c.toml", []byte("listen = \"nowhere\"\n"), func(c *Config) {
		c.Listen = "127.0.0.1:0"
		pool := DefaultPool()
		u := DefaultUpstream()
		u.URL = "http://127.0.0.1:1/mcp"
		pool.Upstreams = []Upstream{u}
		c.Pools = []Pool{pool}
	})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Listen != "127.0.0.1:0" {
		t.Errorf("got listen %q, want the flag's", cfg.Listen)
	}
}

func TestAFaultOfAFlagIsNotBlamedOnTheFile(t *testing.T) {
	_, err := Parse("c.toml", []byte("listen = \"127.0.0.1:1\"\ndrain = \"48h\"\n"+minimal), func(c *Config) { c.Listen = "flag" })
	want := `listen: must be host:port, such as "127.0.0.1:8080", got "flag"` + "\nc.toml:2: drain: must be from 1ms to 24h, got 48h"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestLoadNamesTheFileItCannotOpen(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "absent.toml"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "absent.toml") {
		t.Errorf("got %v, want fs.ErrNotExist with the name", err)
	}
}

func TestLoadRefusesAFileThatIsNoConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.toml")
	if err := os.WriteFile(path, []byte(minimal+"#"+strings.Repeat("x", MaxFile)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("got %v, want a fault of its size", err)
	}
}
