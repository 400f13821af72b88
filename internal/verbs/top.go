package verbs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"berth/internal/api"
	"berth/internal/timed"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

const (
	clearScreen = "\x1b[H\x1b[2J"
	keyQuit     = 'q'
	keyEnd      = 3 // ctrl-c, as a terminal that is raw sends it
)

func topCommand() *cli.Command {
	return &cli.Command{
		Name: "top", Usage: "tell upstreams, rates, tasks and troubles again and again; q ends it",
		Flags: operatorFlags(
			&cli.DurationFlag{Name: "every", Value: 2 * time.Second, Usage: "tell it each `TIME`"},
			&cli.BoolFlag{Name: "once", Usage: "tell it once, with the rates of that time; so it is where standard output is no terminal"},
		),
		Action: func(c *cli.Context) error {
			o, err := newOperator(c)
			if err != nil {
				return err
			}
			t := &top{o: o, every: max(c.Duration("every"), 200*time.Millisecond)}
			screen, ok := c.App.Writer.(*os.File)
			if c.Bool("once") || o.json || !ok || !term.IsTerminal(int(screen.Fd())) {
				return t.once(c.Context)
			}
			return t.run(c.Context, screen)
		},
	}
}

// top is a view that is drawn again and again.
type top struct {
	o      *operator
	every  time.Duration
	before sample
}

// once draws the view after two looks, so that it has rates.
func (t *top) once(ctx context.Context) error {
	if _, err := t.look(ctx); err != nil || t.o.json {
		if err != nil {
			return err
		}
		return t.o.print(nil, nil)
	}
	if err := timed.Sleep(ctx, t.every); err != nil {
		return cli.Exit("", codeFailed)
	}
	frame, err := t.look(ctx)
	if err != nil {
		return err
	}
	_, err = t.o.out.Write(frame)
	return err
}

// run draws the view until somebody ends it. A berth that is away for a while is waited for.
func (t *top) run(ctx context.Context, screen *os.File) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if in := int(os.Stdin.Fd()); term.IsTerminal(in) {
		if before, err := term.MakeRaw(in); err == nil {
			defer func() { _ = term.Restore(in, before) }()
			go quit(stop)
		}
	}
	for {
		frame, err := t.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			frame = []byte(err.Error() + "\n")
		}
		frame = append(frame, fmt.Sprintf("\n%s, each %v; q ends it\n", time.Now().Format(time.TimeOnly), t.every)...)
		_, _ = screen.WriteString(clearScreen + strings.ReplaceAll(fit(string(frame), screen), "\n", "\r\n"))
		if timed.Sleep(ctx, t.every) != nil {
			return nil
		}
	}
}

// quit waits for a key that ends the view. It ends with the process.
func quit(stop func()) {
	key := make([]byte, 1)
	for {
		if _, err := os.Stdin.Read(key); err != nil || key[0] == keyQuit || key[0] == keyEnd {
			stop()
			return
		}
	}
}

// fit cuts what the screen has no room for, so that nothing wraps or scrolls.
func fit(frame string, screen *os.File) string {
	width, height, err := term.GetSize(int(screen.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return frame
	}
	return cut(frame, width, height)
}

// cut leaves so many lines of so many characters, the last two of all among them.
func cut(frame string, width, height int) string {
	lines := strings.Split(frame, "\n")
	for i, line := range lines {
		if runes := []rune(line); len(runes) > width {
			lines[i] = string(runes[:width])
		}
	}
	if len(lines) > height {
		last := min(2, height)
		lines = append(lines[:height-last], lines[len(lines)-last:]...)
	}
	return strings.Join(lines, "\n")
}

// look asks berth, and draws what it tells.
func (t *top) look(ctx context.Context) ([]byte, error) {
	var status api.Status
	if err := t.o.call(ctx, "GET", "/v1/status", nil, &status); err != nil {
		return nil, err
	}
	now := sample{at: time.Now()}
	err := t.o.client.Read(ctx, "/metrics", func(r io.Reader) error { return now.read(r) })
	if err != nil {
		now.counts = nil // metrics are off: there are no rates
	}
	var frame bytes.Buffer
	tellRates(&frame, t.before, now)
	t.before = now
	err = tellWhole(&frame, status)
	return frame.Bytes(), err
}
