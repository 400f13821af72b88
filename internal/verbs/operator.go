package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"berth/internal/admin"

	"github.com/urfave/cli/v2"
)

// Exit codes, beside 0.
const (
	codeFailed      = 1 // berth refused, or could not
	codeUsage       = 2 // the command line means nothing
	codeDeadline    = 3 // the time to wait was over first
	codeUnreachable = 4 // no berth answered
)

const defaultAdmin = "127.0.0.1:9901"

// operatorFlags are those of each verb that speaks to a berth that runs.
func operatorFlags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "admin", EnvVars: []string{"BERTH_ADMIN"}, Value: defaultAdmin, Usage: "`ADDR` of berth's admin listener: HOST:PORT, unix:PATH or a URL"},
		&cli.StringFlag{Name: "admin-token-file", EnvVars: []string{"BERTH_ADMIN_TOKEN_FILE"}, Usage: "`FILE` with the token that the admin listener asks for"},
		&cli.BoolFlag{Name: "json", Usage: "as JSON"},
	}, more...)
}

// operator is a verb's way to a berth that runs.
type operator struct {
	client *admin.Client
	out    io.Writer
	json   bool
	raw    json.RawMessage // what was answered last, as it came
}

func newOperator(c *cli.Context) (*operator, error) {
	token := ""
	if path := c.String("admin-token-file"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, cli.Exit(fmt.Errorf("%s: --admin-token-file: %w", c.Command.HelpName, err), codeFailed)
		}
		token = strings.TrimSpace(string(text))
		if strings.ContainsFunc(token, unicode.IsControl) {
			return nil, cli.Exit(fmt.Errorf("%s: --admin-token-file: %s holds more than a token", c.Command.HelpName, path), codeFailed)
		}
	}
	return &operator{client: admin.NewClient(c.String("admin"), token), out: c.App.Writer, json: c.Bool("json")}, nil
}

// call orders, or asks; the error of a failed call bears its exit code.
func (o *operator) call(ctx context.Context, method, path string, in, out any) error {
	var raw json.RawMessage
	if err := coded(o.client.Call(ctx, method, path, in, &raw)); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return coded(fmt.Errorf("%w: %w", admin.ErrNoBerth, err))
	}
	o.raw = raw
	return nil
}

// coded gives the error of a failed call its exit code.
func coded(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, admin.ErrNoBerth) && strings.HasSuffix(err.Error(), "HTTP 404"):
		return cli.Exit(fmt.Errorf("%w (it is no berth's admin listener, or that of a berth which does not have this)", err), codeUnreachable)
	case errors.Is(err, admin.ErrNoBerth):
		return cli.Exit(fmt.Errorf("%w (berth serve --admin ADDR opens a listener for it)", err), codeUnreachable)
	}
	return cli.Exit(err, codeFailed)
}

// print writes what was answered last as JSON where that is asked for, and value by text otherwise. Where nobody was
// asked, value is the JSON.
func (o *operator) print(value any, text func(io.Writer) error) error {
	if !o.json {
		return text(o.out)
	}
	if o.raw != nil {
		value = o.raw
	}
	encoder := json.NewEncoder(o.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
