package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"berth/internal/filetext"
	"berth/internal/probe"

	"github.com/urfave/cli/v2"
	"golang.org/x/net/http/httpguts"
)

const codeUnknown = 2

func probeCommand() *cli.Command {
	return &cli.Command{
		Name:      "probe",
		Usage:     "find out what an MCP URL loses: tasks, sessions, streams",
		ArgsUsage: "URL",
		Description: "Makes tasks and opens sessions at URL, asks for them again, cancels and ends them, and says what was lost.\n" +
			"Exit code 0: nothing was; 1: something was; 2: no verdict.",
		Flags: probeFlags(),
		OnUsageError: func(c *cli.Context, err error, sub bool) error {
			return cli.Exit(usageError(c, err, sub), codeUnknown)
		},
		Action: func(c *cli.Context) error {
			options, err := probeOptions(c)
			if err != nil {
				return cli.Exit(fmt.Errorf("berth probe: %w", err), codeUnknown)
			}
			if !options.OnLoopback() && !c.Bool("yes") {
				return cli.Exit(announceProbe(options)+"\nNothing was sent. --yes sends it.", codeUnknown)
			}
			return runProbe(c.Context, options, c.Bool("json"), c.App.Writer, c.App.ErrWriter)
		},
	}
}

func probeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "tool", Usage: "`NAME` of the tool to call for tasks (default: one that is annotated as read-only and needs no arguments)"},
		&cli.StringFlag{Name: "args", Usage: "its arguments, a `JSON` object"},
		&cli.StringSliceFlag{Name: "header", Usage: "`'NAME: VALUE'` to send with every request, or @FILE with one a line; repeat it for more"},
		&cli.StringSliceFlag{Name: "principal", Usage: "`'NAME: VALUE'` that makes a caller, or @FILE; given twice, what is the first caller's must not be shown to the second"},
		&cli.StringFlag{Name: "second", Usage: "another `URL` of the same service, where all must be found too"},
		&cli.IntFlag{Name: "rounds", Value: 10, Usage: "`N` tasks and N sessions in each era"},
		&cli.Float64Flag{Name: "rate", Value: 10, Usage: "at most `N` requests a second"},
		&cli.DurationFlag{Name: "limit", Value: 2 * time.Minute, Usage: "`TIME` for all of it, but for cleaning up"},
		&cli.BoolFlag{Name: "json", Usage: "report as JSON"},
		&cli.BoolFlag{Name: "yes", Usage: "probe an address that is not loopback"},
	}
}

func probeOptions(c *cli.Context) (probe.Options, error) {
	if c.NArg() != 1 {
		return probe.Options{}, errors.New("give one URL")
	}
	o := probe.Options{
		URL: c.Args().First(), Second: c.String("second"), Tool: c.String("tool"),
		Rounds: c.Int("rounds"), Rate: c.Float64("rate"), Limit: c.Duration("limit"),
	}
	if args := c.String("args"); args != "" {
		o.Args = json.RawMessage(args)
	}
	var err error
	if o.Header, err = readHeaders("--header", c.StringSlice("header")...); err != nil {
		return probe.Options{}, err
	}
	for _, principal := range c.StringSlice("principal") {
		header, err := readHeaders("--principal", principal)
		if err != nil {
			return probe.Options{}, err
		}
		o.Principals = append(o.Principals, header)
	}
	return o, o.Validate()
}

func announceProbe(o probe.Options) string {
	tool := "a tool that is annotated as read-only"
	if o.Tool != "" {
		tool = fmt.Sprintf("the tool %q", o.Tool)
	}
	return fmt.Sprintf("berth probe: %s: at most %d requests, %g a second, one at a time, for at most %v; "+
		"they call %s at most %d times and open at most %d sessions, to be cancelled and ended again.",
		strings.Join(o.Addresses(), " and "), o.MaxRequests(), o.Rate, o.Limit, tool, o.MaxTasks(), o.MaxSessions())
}

func runProbe(ctx context.Context, o probe.Options, asJSON bool, stdout, stderr io.Writer) error {
	fmt.Fprintln(stderr, announceProbe(o))
	stop := context.AfterFunc(ctx, func() { fmt.Fprintln(stderr, "berth probe: interrupted, cleaning up") })
	defer stop()
	report := probe.Run(ctx, o)
	if err := writeReport(stdout, report, asJSON); err != nil {
		return cli.Exit(fmt.Errorf("berth probe: %w", err), codeUnknown)
	}
	switch report.Verdict {
	case probe.Clean:
		return nil
	case probe.Lost:
		return cli.Exit("", 1)
	}
	return cli.Exit("", codeUnknown)
}

func writeReport(w io.Writer, report *probe.Report, asJSON bool) error {
	if !asJSON {
		return report.WriteText(w)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}

var ownHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "Transfer-Encoding",
	"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id",
}

// readHeaders reads NAME: VALUE, or @FILE with one a line. Errors repeat no value.
func readHeaders(flag string, given ...string) (http.Header, error) {
	header := http.Header{}
	for _, value := range given {
		lines := []string{value}
		if file, ok := strings.CutPrefix(value, "@"); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", flag, err)
			}
			lines = strings.Split(string(filetext.Of(text)), "\n")
		}
		for _, line := range lines {
			if err := addHeader(header, line); err != nil {
				return nil, fmt.Errorf("%s: %w", flag, err)
			}
		}
	}
	return header, nil
}

func addHeader(header http.Header, line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	name, value, ok := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
		return errors.New("want 'NAME: VALUE'")
	}
	if slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)) {
		return fmt.Errorf("%s is the probe's own", http.CanonicalHeaderKey(name))
	}
	header.Add(name, value)
	return nil
}
