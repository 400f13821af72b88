package command

import (
	"errors"
	"fmt"

	"berth/internal/config"

	"github.com/urfave/cli/v2"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "judge a configuration file: every fault at once, with its key and line",
		ArgsUsage: "FILE",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return errors.New("berth check: give one configuration file")
			}
			file := c.Args().First()
			cfg, err := config.Load(file)
			if err != nil {
				return err
			}
			upstreams := 0
			for _, pool := range cfg.Pools {
				upstreams += len(pool.Upstreams)
			}
			note := ""
			if url, given := cfg.Store.EffectiveURL(stateDirectory()); given {
				note = ", store " + string(url) + " (by $STATE_DIRECTORY)"
			}
			_, err = fmt.Fprintf(c.App.Writer, "%s: ok, %d pools, %d upstreams%s\n", file, len(cfg.Pools), upstreams, note)
			return err
		},
	}
}
