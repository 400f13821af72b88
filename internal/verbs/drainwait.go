package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"berth/internal/admin"
	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

// askEvery is how often who waits asks.
const askEvery = 500 * time.Millisecond

// drainAndWait gives the order and waits for what it is for. The time is that of both; where there is none to wait
// the order is given all the same.
func (o *operator) drainAndWait(ctx context.Context, path string, order api.DrainOrder, limit time.Duration) error {
	began := time.Now()
	ordering, cancel := context.WithTimeout(ctx, max(limit, orderWithin))
	defer cancel()
	var status api.MayStop
	err := o.call(ordering, "POST", path+"/drain", order, &status)
	if err != nil && ordering.Err() != nil && ctx.Err() == nil {
		return cli.Exit(errors.New("the time to wait is over, and it is not known whether berth has heard the order"), codeDeadline)
	}
	if err != nil {
		return err
	}
	return o.awaitDrained(ctx, path, limit-time.Since(began), status)
}

// orderWithin is how long an order has at least: what berth takes for it, and the way there and back.
const orderWithin = api.OrderTime + 2*time.Second

// awaitDrained asks until nothing is left, or the time is over, and tells each change. status is how it
// was when the order was given.
func (o *operator) awaitDrained(ctx context.Context, path string, limit time.Duration, status api.MayStop) error {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	told := ""
	for {
		var next api.MayStop
		err := o.call(waiting, "GET", path, nil, &next)
		switch {
		case ctx.Err() != nil:
			return o.leftOver(status, "the wait was interrupted, it still drains", codeFailed)
		case waiting.Err() != nil:
			return o.leftOver(status, "the time to wait is over", codeDeadline)
		case err != nil && !isPassing(err):
			return err
		case err == nil:
			status = next
			if line := statusLine(status); line != told && !o.json {
				told = line
				fmt.Fprintln(o.out, time.Now().Format(time.TimeOnly), plain(line))
			}
		}
		o.waits(err)
		switch {
		case err == nil && status.Drained:
			return o.print(status, func(io.Writer) error { return nil })
		case err == nil && !status.Draining:
			return cli.Exit(fmt.Errorf("%s/%s drains no more: somebody has undrained it, or the store has lost what it kept", status.Pool, status.Name), codeFailed)
		}
		select {
		case <-waiting.Done():
		case <-tick.C:
		}
	}
}

// isPassing reports whether asking again may help: berth, or its store, is away for a moment.
func isPassing(err error) bool {
	fault, answered := errors.AsType[*admin.Fault](err)
	return errors.Is(err, admin.ErrNoBerth) || answered && fault.Status == http.StatusServiceUnavailable
}

// endsWatch reports whether an error ends a watch: a berth that has answered is waited for.
func endsWatch(err error, answered bool) bool {
	return !isPassing(err) || !answered && errors.Is(err, admin.ErrNoBerth)
}

// leftOver tells what is left as the wait ends, and why it does.
func (o *operator) leftOver(status api.MayStop, why string, code int) error {
	if err := o.print(status, func(w io.Writer) error { return tellStatus(w, status) }); err != nil {
		return err
	}
	return cli.Exit(fmt.Errorf("%s/%s: %s: %s", status.Pool, status.Name, why, statusLine(status)), code)
}
