// Package command is berth's command line: its verbs, the flags of the simple
// case, and the life of the serving process: how it begins, reads its configuration
// anew, drains and ends. What serves in it is package site.
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"berth/internal/build"
	"berth/internal/verbs"

	"github.com/urfave/cli/v2"
)

// Run runs berth's command line and returns the exit code: 0; 1 if something failed or was found
// wanting; 2 for a meaningless command line, and a probe without a verdict. ctx ends a running verb
// in order.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	app := newApp(stdout, stderr)
	if err := app.RunContext(ctx, flagsFirst(app.Commands, args)); err != nil {
		if text := err.Error(); text != "" {
			fmt.Fprintln(stderr, text)
		}
		if coded, ok := errors.AsType[cli.ExitCoder](err); ok {
			return coded.ExitCode()
		}
		return 1
	}
	return 0
}

func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:      "berth",
		Usage:     "a task-aware reverse proxy and load balancer for the Model Context Protocol",
		Writer:    stdout,
		ErrWriter: stderr,
		// A URL may hold commas.
		DisableSliceFlagSeparator: true,
		HideVersion:               true, // the library's own would print another line than the verb
		Flags:                     []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version"}},
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
		Action: func(c *cli.Context) error {
			switch {
			case c.Args().Present():
				return misused("berth: no verb %q; see berth --help", c.Args().First())
			case c.Bool("version"):
				return printVersion(c.App.Writer)
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			serveCommand(), demoCommand(), demoServerCommand(), checkCommand(), probeCommand(), versionCommand(), completionCommand(),
		},
		EnableBashCompletion: true,
	}
	for _, verb := range app.Commands {
		verb.Category = categories[verb.Name]
	}
	app.Commands = append(app.Commands, verbs.Commands()...)
	complete(app.Commands)
	return app
}

// categories are what help lists verbs under.
var categories = map[string]string{"serve": "run", "demo": "run", "check": "check", "probe": "check", "version": "help", "completion": "help"}

// complete gives verbs, and those below them, what the library asks a verb's own for.
func complete(all []*cli.Command) {
	for _, verb := range all {
		if verb.OnUsageError == nil {
			verb.OnUsageError = usageError
		}
		if verb.ArgsUsage == "" {
			verb.Before = noArguments
		}
		verb.HideHelpCommand = true
		complete(verb.Subcommands)
	}
}

func usageError(c *cli.Context, err error, _ bool) error {
	return misused("%w\nsee %s --help", err, c.Command.HelpName)
}

func misused(format string, args ...any) error { return verbs.Misused(format, args...) }

func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return misused("%s: unexpected argument %q", c.Command.HelpName, c.Args().First())
	}
	return nil
}

// completionFlag is how shells ask what may come next.
const completionFlag = "--generate-bash-completion"

// flagsFirst puts what is no flag behind a verb's flags: the library takes none after the first
// argument. What follows "--" is left alone.
func flagsFirst(verbs []*cli.Command, args []string) []string {
	if len(args) < 2 || args[len(args)-1] == completionFlag {
		return args
	}
	at := slices.IndexFunc(verbs, func(v *cli.Command) bool { return v.Name == args[1] })
	if at < 0 {
		return args
	}
	verb, named := verbs[at], false
	flags, rest := slices.Clone(args[:2]), []string(nil)
	for i := 2; i < len(args); i++ {
		below := verb.Command(args[i])
		switch {
		case args[i] == "--":
			return slices.Concat(flags, args[i:i+1], rest, args[i+1:])
		case !named && below != nil: // it comes before the flags, which are its own
			flags = slices.Insert(flags, 2, args[i])
			verb, named = below, true
		case args[i] == "-" || !strings.HasPrefix(args[i], "-") || isID(verb, args[i]):
			rest, named = append(rest, args[i]), true
		case takesNext(verb, args[i]) && i+1 < len(args):
			flags = append(flags, args[i], args[i+1])
			i++
		default:
			flags = append(flags, args[i])
		}
	}
	if slices.ContainsFunc(rest, func(arg string) bool { return len(arg) > 1 && arg[0] == '-' }) {
		flags = append(flags, "--")
	}
	return slices.Concat(flags, rest)
}

// shortestID is what an argument has at least that begins with "-" and is taken for an id; what is
// shorter is a flag with a fault in it.
const shortestID = 12

// isID reports whether an argument that looks like a flag is an id, as those of queues may be: verb
// takes one, and has no such flag.
func isID(verb *cli.Command, arg string) bool {
	if !strings.HasPrefix(verb.ArgsUsage, "ID") || len(arg) < shortestID || arg[1] == '-' {
		return false
	}
	name, _, _ := strings.Cut(arg[1:], "=")
	return flagOf(verb, name) == nil
}

func takesNext(verb *cli.Command, flag string) bool {
	f := flagOf(verb, strings.TrimLeft(flag, "-"))
	_, isBool := f.(*cli.BoolFlag)
	return f != nil && !isBool // else it is unknown, or has its value behind an =
}

// flagOf is a flag of verb by one of its names; nil: there is none.
func flagOf(verb *cli.Command, name string) cli.Flag {
	at := slices.IndexFunc(verb.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if at < 0 {
		return nil
	}
	return verb.Flags[at]
}

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // the commit it was built from, if the build knew
	Modified bool   `json:"modified,omitempty"` // built from a changed work tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readVersion() versionInfo {
	v := versionInfo{Version: build.Version, Revision: build.Revision, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = cmp.Or(v.Revision, s.Value)
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
		Action: func(c *cli.Context) error {
			if c.Bool("json") {
				return json.NewEncoder(c.App.Writer).Encode(readVersion())
			}
			return printVersion(c.App.Writer)
		},
	}
}

func printVersion(w io.Writer) error {
	v := readVersion()
	_, err := fmt.Fprintf(w, "berth %s %s %s %s\n", v.Version, v.Revision, v.Go, v.Platform)
	return err
}
