package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

const codeUsage = 2

// Run runs berth's command line and returns the process's exit code: 0; 1 if something
// failed or was found wanting; 2 for a command line that means nothing, and for a probe
// without a verdict. ctx ends a running verb in order.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	app := newApp(stdout, stderr)
	if err := app.RunContext(ctx, flagsFirst(app.Commands, args)); err != nil {
		if text := err.Error(); text != "" {
			fmt.Fprintln(stderr, text)
		}
		return exitCode(err)
	}
	return 0
}

func exitCode(err error) int {
	if coded, ok := errors.AsType[cli.ExitCoder](err); ok {
		return coded.ExitCode()
	}
	return 1
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
		Commands: []*cli.Command{serveCommand(), checkCommand(), probeCommand(), demoCommand(), versionCommand()},
	}
	for _, verb := range app.Commands {
		// The library asks a verb's own handler only.
		if verb.OnUsageError == nil {
			verb.OnUsageError = usageError
		}
	}
	return app
}

func usageError(c *cli.Context, err error, _ bool) error {
	return misused("%w\nsee %s --help", err, c.Command.HelpName)
}

func misused(format string, args ...any) error {
	return cli.Exit(fmt.Errorf(format, args...), codeUsage)
}

func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return misused("%s: unexpected argument %q", c.Command.HelpName, c.Args().First())
	}
	return nil
}
