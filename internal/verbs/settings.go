package verbs

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

func limitsCommand() *cli.Command {
	return &cli.Command{
		Name: "limits", Usage: "tell each limit, how much of it is used and how often it refused, at a berth", Flags: watchFlags(),
		Action: asks(at("/v1/limits"), func(w io.Writer, l api.Limits) error {
			var rows [][]string
			for _, one := range l.Limits {
				rows = append(rows, []string{one.Key, one.Scope, one.Most, countedOrNot(one.Used), one.Unit, countedOrNot(one.Refused)})
			}
			return table(w, "LIMIT SCOPE MOST USED UNIT REFUSED", rows)
		}),
	}
}

// countedOrNot is a number, or "" where nobody counts.
func countedOrNot(n int64) string {
	if n < 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func configCommand() *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "tell the configuration in force, without secrets, and where each key is from; of keys that begin so",
		ArgsUsage: "[PREFIX]", Flags: operatorFlags(&cli.BoolFlag{Name: "set", Usage: "leave out what is the default"}),
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return Misused("%s: one PREFIX at most", c.Command.HelpName)
			}
			prefix, set := c.Args().First(), c.Bool("set")
			return asks(at("/v1/config"), func(w io.Writer, told api.Config) error { return tellConfig(w, told, prefix, set) })(c)
		},
	}
}

func tellConfig(w io.Writer, told api.Config, prefix string, set bool) error {
	if !slices.ContainsFunc(told.Keys, func(k api.Key) bool { return strings.HasPrefix(k.Key, prefix) }) {
		return Misused("config: no key begins with %q", prefix)
	}
	var rows [][]string
	for _, key := range told.Keys {
		if !strings.HasPrefix(key.Key, prefix) || set && key.Origin == "default" {
			continue
		}
		value, _ := json.Marshal(key.Value) // it came as JSON
		rows = append(rows, []string{key.Key, string(value), key.Origin})
	}
	if err := table(w, "KEY VALUE ORIGIN", rows); err != nil {
		return err
	}
	if told.File != "" {
		fmt.Fprintf(w, "\n%s, read %s ago\n", plain(told.File), ago(told.Read))
	}
	if len(told.Restart) > 0 {
		fmt.Fprintln(w, "needs a restart:", plain(strings.Join(told.Restart, ", ")))
	}
	if told.Fault != "" {
		fmt.Fprintln(w, "the last reading was refused:", plain(told.Fault))
	}
	return nil
}

const logLevelPath = "/v1/log-level"

func logLevelCommand() *cli.Command {
	return &cli.Command{
		Name: "log-level", Usage: "tell the log level of a berth, or set it for a time", ArgsUsage: "[debug|info|warn|error]",
		Flags:        operatorFlags(&cli.DurationFlag{Name: "for", Value: 5 * time.Minute, Usage: "for so long, an hour at most; then the configuration's is back"}),
		BashComplete: func(c *cli.Context) { complete(c, "debug", "info", "warn", "error") },
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return Misused("%s: one level at most", c.Command.HelpName)
			}
			o, err := newOperator(c)
			if err != nil {
				return err
			}
			method, order := "GET", any(nil)
			if c.Args().Present() {
				method, order = "PUT", map[string]any{"level": c.Args().First(), "for": int(c.Duration("for").Seconds())}
			}
			var told api.LogLevel
			if err := o.call(c.Context, method, logLevelPath, order, &told); err != nil {
				return err
			}
			return o.print(told, func(w io.Writer) error {
				line := told.Level
				if !told.Until.IsZero() {
					line += ", for another " + until(told.Until) + "; then " + told.Configured
				}
				_, err := fmt.Fprintln(w, line)
				return err
			})
		},
	}
}

func profileCommand() *cli.Command {
	return &cli.Command{
		Name: "profile", Usage: "write a profile of a berth to a file, for go tool pprof; needs [admin] pprof = true",
		Flags: append(operatorFlags()[:4:4],
			&cli.StringFlag{Name: "type", Value: "cpu", Usage: "`TYPE`: cpu, heap, goroutine, allocs, block, mutex, threadcreate or trace"},
			&cli.IntFlag{Name: "seconds", Value: 10, Usage: "of cpu and trace, for how long; 25 at most"},
			&cli.StringFlag{Name: "o", Usage: "`FILE` to write to; -: standard output"}),
		Action: func(c *cli.Context) error {
			if c.String("o") == "" {
				return Misused("%s: name a file with -o FILE, or - for standard output", c.Command.HelpName)
			}
			path, err := profilePath(c.String("type"), c.Int("seconds"))
			if err != nil {
				return Misused("%s: %w", c.Command.HelpName, err)
			}
			o, err := newOperator(c)
			if err != nil {
				return err
			}
			return o.profile(c.Context, path, c.String("o"), time.Duration(c.Int("seconds"))*time.Second)
		},
	}
}

const longestProfile = 25 // seconds: the listener ends an answer after 30

func profilePath(kind string, seconds int) (string, error) {
	if seconds < 1 || seconds > longestProfile {
		return "", fmt.Errorf("--seconds must be from 1 to %d", longestProfile)
	}
	switch kind {
	case "cpu":
		return fmt.Sprintf("/debug/pprof/profile?seconds=%d", seconds), nil
	case "trace":
		return fmt.Sprintf("/debug/pprof/trace?seconds=%d", seconds), nil
	case "heap", "goroutine", "allocs", "block", "mutex", "threadcreate":
		return "/debug/pprof/" + url.PathEscape(kind), nil
	}
	return "", fmt.Errorf("--type %q is no profile", kind)
}
