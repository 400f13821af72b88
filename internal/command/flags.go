package command

import (
	"fmt"
	"strings"

	"berth/internal/config"

	"github.com/urfave/cli/v2"
)

func serveFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Usage: "configuration `FILE` (TOML); flags win over it"},
		&cli.StringFlag{Name: "listen", Usage: "`HOST:PORT` where clients connect (default 127.0.0.1:8080)"},
		&cli.StringSliceFlag{Name: "upstream", Usage: "`[NAME=]URL` of an MCP server's endpoint, or NAME=stdio:COMMAND; repeat it for each instance"},
		&cli.StringFlag{Name: "store", Usage: "`URL` of the store of bindings: memory:, file:PATH, redis://HOST:PORT/DB, redis+sentinel://…, redis+cluster://… (default file:$STATE_DIRECTORY/berth.db if that is set, else memory:)"},
		&cli.StringSliceFlag{Name: "upgrade", Usage: "`GLOB` of tools whose calls become tasks; repeat it for each; a rule of defaults behind those of the file"},
		&cli.StringFlag{Name: "admin", Usage: "`HOST:PORT` or unix:PATH of health and metrics (default: none)"},
		&cli.StringFlag{Name: "http1", Usage: "`CARRIER` of HTTP/1.1: berth, or net/http for the one before 0.10 (default berth)"},
	}
}

// configure reads what file and flags say, and where each key of it is from.
func configure(c *cli.Context) (config.Config, *config.Source, error) {
	upstreams := parseUpstreams(c.StringSlice("upstream"))
	file := c.String("config")
	if file == "" {
		cfg, err := configureByFlags(c, upstreams)
		return cfg, new(config.Source).Flagged(setBy(c, cfg)), err
	}
	pools := 0
	cfg, source, err := config.Read(file, func(cfg *config.Config) {
		pools = len(cfg.Pools)
		applyFlags(c, cfg, upstreams)
	})
	if len(upstreams) > 0 && pools > 1 {
		return config.Config{}, nil, misused("berth serve: --upstream does not say which of the %d pools of %s it means", pools, file)
	}
	return cfg, source.Flagged(setBy(c, cfg)), err
}

// setBy are the flags that have set keys of cfg, by these keys.
func setBy(c *cli.Context, cfg config.Config) map[string]string {
	by := map[string]string{}
	for flag, key := range map[string]string{
		"listen": "listen", "store": "store.url", "admin": "admin.listen", "http1": "http1", "upstream": "pools[0].upstreams", "upgrade": fmt.Sprintf("upgrade[%d]", len(cfg.Upgrades)-1),
	} {
		if c.IsSet(flag) {
			by[key] = flag
		}
	}
	return by
}

func configureByFlags(c *cli.Context, upstreams []config.Upstream) (config.Config, error) {
	if len(upstreams) == 0 {
		return config.Config{}, misused("berth serve: give --upstream [NAME=]URL, once for each instance, or --config FILE")
	}
	cfg := config.Default()
	applyFlags(c, &cfg, upstreams)
	if faults := cfg.Validate(); len(faults) > 0 {
		return config.Config{}, config.Faults(faults)
	}
	return cfg, nil
}

func applyFlags(c *cli.Context, cfg *config.Config, upstreams []config.Upstream) {
	if c.IsSet("listen") {
		cfg.Listen = c.String("listen")
	}
	if c.IsSet("store") {
		cfg.Store.URL, cfg.Store.URLFile = config.Secret(c.String("store")), ""
	}
	if c.IsSet("admin") {
		cfg.Admin.Listen = c.String("admin")
	}
	if c.IsSet("http1") {
		cfg.HTTP1 = c.String("http1")
	}
	if c.IsSet("upgrade") {
		rule := config.DefaultUpgrade()
		rule.Tools = c.StringSlice("upgrade")
		cfg.Upgrades = append(cfg.Upgrades, rule)
	}
	if len(upstreams) == 0 {
		return
	}
	if len(cfg.Pools) == 0 {
		cfg.Pools = []config.Pool{config.DefaultPool()}
	}
	cfg.Pools[0].Upstreams = upstreams
}

// parseUpstreams reads [NAME=]URL. What may begin a URL is no name.
func parseUpstreams(flags []string) []config.Upstream {
	var upstreams []config.Upstream
	for _, flag := range flags {
		name, target, ok := strings.Cut(flag, "=")
		if !ok || strings.ContainsAny(name, ":/?") {
			name, target = "", flag
		}
		u := config.ParseUpstream(target)
		u.Name = name
		upstreams = append(upstreams, u)
	}
	return upstreams
}
