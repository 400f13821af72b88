package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

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
			cfg, err := until(c.Context, 0, func() (config.Config, error) { return config.Load(file) })
			if err != nil {
				return err
			}
			found := warnings(cfg)
			if c.Bool("online") {
				seen, err := until(c.Context, endsWithin, func() ([]site.Finding, error) { return site.Inspect(c.Context, cfg), nil })
				if err != nil {
					return err
				}
				found = append(found, seen...)
			}
			if err := report(found, c.App.Writer); err != nil {
				return err
			}
			return announceChecked(c.App.Writer, file, cfg)
		},
	}
}

// endsWithin is how long what was begun to look at has to end, as servers that berth runs.
const endsWithin = time.Second

var errGivenUp = errors.New("berth check: given up by a signal")

// until returns what do does. Once ctx ends, do is waited for no longer than grace: a large file, or a disk, heeds no context.
func until[T any](ctx context.Context, grace time.Duration, do func() (T, error)) (T, error) {
	var value T // of do, as err is, until done is closed
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, err = do()
	}()
	select {
	case <-done:
		return value, err
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(grace):
	}
	var none T
	return none, errGivenUp
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
		for _, u := range unsetOffLoopback(cfg, pool) {
			found = append(found, site.Finding{Key: fmt.Sprintf("pools[%d].%s", i, u.key), Text: u.means, Warning: true})
		}
	}
	// A caller has half of it, and new calls three quarters of that.
	if most := cfg.Limits.Kept / 8 * 3; len(cfg.Upgrades) > 0 && most < cfg.Limits.Body {
		text := fmt.Sprintf("no call of more than %v becomes a task, it is refused with 429: limits.body lets in %v", most, cfg.Limits.Body)
		found = append(found, site.Finding{Key: "limits.kept", Text: text, Warning: true})
	}
	return found
}

// unset is a key of a pool that is not set, and what that means.
type unset struct{ key, means string }

// unsetOffLoopback are those that decide which pages may call.
func unsetOffLoopback(cfg config.Config, pool config.Pool) (found []unset) {
	if cfg.OnLoopback() {
		return nil
	}
	if len(pool.Origins) == 0 {
		found = append(found, unset{"origins", "off loopback without origins no page of another origin is let in"})
	}
	if len(pool.Hosts) == 0 {
		found = append(found, unset{"hosts", "off loopback without hosts a page whose name was rebound to this address is let in"})
	}
	return found
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
