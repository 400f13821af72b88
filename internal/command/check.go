package command

import (
	"fmt"
	"io"

	"berth/internal/config"
	"berth/internal/site"

	"github.com/urfave/cli/v2"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "judge a configuration file: every fault at once, with its key and line",
		ArgsUsage: "FILE",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "online", Usage: "look at what the file names as well: store, upstreams, certificates, keys, secrets"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return misused("berth check: give one configuration file")
			}
			file := c.Args().First()
			cfg, err := config.Load(file)
			if err != nil {
				return err
			}
			found := warnings(cfg)
			if c.Bool("online") {
				found = append(found, site.Inspect(c.Context, cfg)...)
			}
			if err := report(found, c.App.Writer); err != nil {
				return err
			}
			return announceChecked(c.App.Writer, file, cfg)
		},
	}
}

// report writes warnings; the other findings are the error.
func report(found []site.Finding, warnings io.Writer) error {
	var broken site.Findings
	for _, f := range found {
		if !f.Warning {
			broken = append(broken, f)
		} else if _, err := fmt.Fprintln(warnings, f); err != nil {
			return err
		}
	}
	if len(broken) > 0 {
		return broken
	}
	return nil
}

func warnings(cfg config.Config) (found []site.Finding) {
	for i, pool := range cfg.Pools {
		if refuses := refusedPages(cfg, pool); refuses != "" {
			found = append(found, site.Finding{Key: fmt.Sprintf("pools[%d].origins", i), Text: refuses, Warning: true})
		}
	}
	return found
}

func refusedPages(cfg config.Config, pool config.Pool) string {
	switch {
	case cfg.OnLoopback() || len(pool.Origins) > 0:
		return ""
	case len(pool.Hosts) == 0:
		return "off loopback without origins no page of another origin is let in; without hosts a name rebound to this address counts as its own"
	}
	return "off loopback without origins no page of another origin is let in"
}

func announceChecked(w io.Writer, file string, cfg config.Config) error {
	upstreams := 0
	for _, pool := range cfg.Pools {
		upstreams += len(pool.Upstreams)
	}
	note := ""
	if rules := len(cfg.Upgrades); rules > 0 {
		note = fmt.Sprintf(", %d upgrade rules", rules)
	}
	if url, given, _ := cfg.Store.EffectiveURL(site.StateDirectory()); given {
		note += ", store " + string(url) + " (by $STATE_DIRECTORY)"
	}
	_, err := fmt.Fprintf(w, "%s: ok, %d pools, %d upstreams%s\n", file, len(cfg.Pools), upstreams, note)
	return err
}
