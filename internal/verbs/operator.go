package verbs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"berth/internal/admin"
	"berth/internal/filetext"

	"github.com/urfave/cli/v2"
)

// Exit codes, beside 0.
const (
	codeFailed      = 1 // berth refused, or could not
	codeUsage       = 2 // the command line means nothing, or berth says so of what it names
	codeDeadline    = 3 // the time to wait was over first
	codeUnreachable = 4 // no berth answered
)

const defaultAdmin = "127.0.0.1:9901"

// operatorFlags are those of each verb that speaks to a berth that runs.
func operatorFlags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "admin", EnvVars: []string{"BERTH_ADMIN"}, Value: defaultAdmin, Usage: "`ADDR` of berth's admin listener: HOST:PORT, unix:PATH or a URL"},
		&cli.StringFlag{Name: "admin-token-file", EnvVars: []string{"BERTH_ADMIN_TOKEN_FILE"}, Usage: "`FILE` with the token that the admin listener asks for"},
		&cli.StringFlag{Name: "admin-ca", EnvVars: []string{"BERTH_ADMIN_CA"}, Usage: "PEM `FILE` of the authorities that the admin listener's certificate leads to, with --admin https://HOST:PORT (default: the system's)"},
		&cli.StringFlag{Name: "admin-cert", EnvVars: []string{"BERTH_ADMIN_CERT"}, Usage: "PEM `FILE` of a certificate and its key to show the admin listener, where that asks for one"},
		&cli.BoolFlag{Name: "json", Usage: "as JSON"},
	}, more...)
}

// operator is a verb's way to a berth that runs.
type operator struct {
	client *admin.Client
	out    io.Writer
	errors io.Writer
	json   bool
	away   bool            // nobody answered last, which was told
	raw    json.RawMessage // what was answered last, as it came
}

func newOperator(c *cli.Context) (*operator, error) {
	if err := checkTimes(c); err != nil {
		return nil, err
	}
	token := ""
	if path := c.String("admin-token-file"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, cli.Exit(fmt.Errorf("%s: --admin-token-file: %w", c.Command.HelpName, err), codeFailed)
		}
		token = filetext.Word(text)
		if strings.ContainsFunc(token, unicode.IsControl) {
			return nil, cli.Exit(fmt.Errorf("%s: --admin-token-file: %s holds more than a token", c.Command.HelpName, path), codeFailed)
		}
	}
	if err := admin.CheckAddress(c.String("admin")); err != nil {
		return nil, Misused("%s: --admin %s: %w", c.Command.HelpName, c.String("admin"), err)
	}
	o := &operator{client: admin.NewClient(c.String("admin"), token), out: c.App.Writer, errors: c.App.ErrWriter, json: c.Bool("json")}
	return o, o.secure(c)
}

// checkTimes refuses flags that are no time. To wait for 0 s is to look once.
func checkTimes(c *cli.Context) error {
	for _, flag := range c.Command.Flags {
		f, ok := flag.(*cli.DurationFlag)
		if !ok || !c.IsSet(f.Name) {
			continue
		}
		if d := c.Duration(f.Name); d < 0 || d == 0 && f.Name != "timeout" {
			return Misused("%s: --%s %v: it must be more than 0", c.Command.HelpName, f.Name, d)
		}
	}
	return nil
}

// secure has the operator trust, and show, what the flags name.
func (o *operator) secure(c *cli.Context) error {
	ca, pair := c.String("admin-ca"), c.String("admin-cert")
	if ca == "" && pair == "" {
		return nil
	}
	if !strings.HasPrefix(c.String("admin"), "https://") {
		return Misused("%s: --admin-ca and --admin-cert are for --admin https://HOST:PORT", c.Command.HelpName)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return cli.Exit(fmt.Errorf("%s: --admin-ca: %w", c.Command.HelpName, err), codeFailed)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(filetext.Of(text)) {
			return cli.Exit(fmt.Errorf("%s: --admin-ca: %s holds no certificate", c.Command.HelpName, ca), codeFailed)
		}
	}
	if pair != "" {
		text, err := os.ReadFile(pair)
		if err != nil {
			return cli.Exit(fmt.Errorf("%s: --admin-cert: %w", c.Command.HelpName, err), codeFailed)
		}
		shown, err := tls.X509KeyPair(filetext.Of(text), filetext.Of(text))
		if err != nil {
			return cli.Exit(fmt.Errorf("%s: --admin-cert: %w", c.Command.HelpName, err), codeFailed)
		}
		config.Certificates = []tls.Certificate{shown}
	}
	o.client.Secure(config)
	return nil
}

// call orders, or asks; the error of a failed call bears its exit code.
func (o *operator) call(ctx context.Context, method, path string, in, out any) error {
	var raw json.RawMessage
	if err := o.client.Call(ctx, method, path, in, &raw); err != nil {
		return o.failed(err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return coded(fmt.Errorf("%w: %w", admin.ErrNoBerth, err))
	}
	o.raw = raw
	return nil
}

// waits tells of what a wait goes on through, once in a row; nil: berth answers.
func (o *operator) waits(err error) {
	if err != nil && !o.away {
		fmt.Fprintln(o.errors, err)
	}
	o.away = err != nil
}

// failed gives the error of a failed call its exit code. As JSON a refusal that stands is told to programs as well.
func (o *operator) failed(err error) error {
	if fault, refused := errors.AsType[*admin.Fault](err); refused && o.json && !isPassing(err) {
		_ = o.encode(map[string]*admin.Fault{"error": fault}) // what cannot be written is told as text all the same
	}
	return coded(err)
}

// coded gives the error of a failed call its exit code.
func coded(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, admin.ErrNoBerth) && strings.Contains(err.Error(), "HTTP 404"):
		return cli.Exit(fmt.Errorf("%w (it is no berth's admin listener, or that of a berth which does not have this)", err), codeUnreachable)
	case errors.Is(err, admin.ErrTLS):
		return cli.Exit(fmt.Errorf("%w (--admin https://ADDR, --admin-ca for who has signed the listener's certificate, --admin-cert where it asks for one)", err), codeUnreachable)
	case errors.Is(err, admin.ErrNoBerth):
		return cli.Exit(fmt.Errorf("%w (berth serve --admin ADDR opens a listener for it)", err), codeUnreachable)
	}
	if fault, ok := errors.AsType[*admin.Fault](err); ok && fault.Code == "bad_request" {
		return cli.Exit(err, codeUsage)
	}
	return cli.Exit(err, codeFailed)
}

// print writes what was answered last as JSON where that is asked for, and value by text otherwise. Where nobody was
// asked, value is the JSON.
func (o *operator) print(value any, text func(io.Writer) error) error {
	if !o.json {
		return text(plainly{o.out})
	}
	if o.raw != nil {
		value = o.raw
	}
	return o.encode(value)
}

// encode prints a value as JSON.
func (o *operator) encode(value any) error {
	encoder := json.NewEncoder(o.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
