package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

type reply struct {
	code    string // how it begins
	reason  engine.Reason
	refusal bool // PING would be answered all the same
}

var replies = []reply{
	{code: "OOM", reason: engine.ReasonOOM, refusal: true},
	{code: "MISCONF", reason: engine.ReasonDisk, refusal: true}, // to PING as well, which outage knows
	{code: "READONLY", reason: engine.ReasonReadonly, refusal: true},
	{code: "NOPERM", reason: engine.ReasonAuth, refusal: true},
	{code: "LOADING", reason: engine.ReasonLoading},
	{code: "MASTERDOWN", reason: engine.ReasonLoading},
	{code: "CLUSTERDOWN", reason: engine.ReasonLoading},
	{code: "MOVED", reason: engine.ReasonLoading}, // again and again, or by a node of a cluster that was named as a single server
	{code: "ASK", reason: engine.ReasonLoading},
	{code: "TRYAGAIN", reason: engine.ReasonLoading}, // a slot that moves
	{code: "UNBLOCKED", reason: engine.ReasonLoading},
	{code: "NOSCRIPT", reason: engine.ReasonLoading},
	{code: "NOREPLICAS", reason: engine.ReasonUnreplicated, refusal: true},
	{code: "NOAUTH", reason: engine.ReasonAuth},
	{code: "WRONGPASS", reason: engine.ReasonAuth},
	{code: "BUSY", reason: engine.ReasonTimeout},
	{code: "ERR max number of clients", reason: engine.ReasonRefused},
	{code: "DENIED", reason: engine.ReasonRefused}, // in protected mode
}

// fail words a driver's error as Engine promises. Only the caller's ctx can tell one who left from
// a slow server.
func (r *single) fail(ctx context.Context, op string, err error) error {
	if err == nil || err == engine.ErrAshore {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("storage: %s: %w", op, context.Canceled)
	}
	f := &engine.Fault{Op: op, Detail: r.servers.scrub(err.Error()), Deadline: ctx.Err()}
	told, went := err.(toldOf)
	if went {
		err = told.error
	}
	f.Reason, f.Refusal = meaning(err)
	f.Foreign = isForeign(err)
	f.Told = went && f.Reason != engine.ReasonTimeout // of those the breaker asks how long nobody was answered
	if !f.Refusal && r.relocate != nil {
		r.relocate()
	}
	return f
}

// toldOf is an error of a trip that another one of its passengers tells the breaker: one cut connection is one failure.
type toldOf struct{ error }

// notToTell is err as it is for who only went along. An answer is its command's own.
func notToTell(err error) error {
	if _, answer := err.(redis.Error); answer {
		return err
	}
	return toldOf{err}
}

func meaning(err error) (why engine.Reason, refusal bool) {
	switch {
	case errors.Is(err, errUnreplicated):
		return engine.ReasonUnreplicated, true
	case errors.Is(err, redis.ErrPoolTimeout):
		return engine.ReasonBusy, true
	case errors.Is(err, errClusterState):
		return engine.ReasonLoading, false
	case errors.Is(err, errMalformed): // the server is well, one key cannot be read
		return engine.ReasonOther, true
	}
	if answer, ok := errors.AsType[redis.Error](err); ok {
		known := lookup(answer.Error())
		// What was said while the connection was made is about every command.
		_, toCommand := err.(redis.Error)
		return known.reason, known.refusal && toCommand
	}
	return transportReason(err), false
}

// isForeign reports whether a key is of another kind than what was asked of it. Who asks by a script is told that within its error.
func isForeign(err error) bool {
	answer, ok := errors.AsType[redis.Error](err)
	return ok && (strings.HasPrefix(answer.Error(), "WRONGTYPE ") || strings.Contains(answer.Error(), " -WRONGTYPE "))
}

// lookup finds an error answer. Redis before 7 quotes the error of a script's command within its
// own.
func lookup(text string) reply {
	for _, known := range replies {
		if strings.HasPrefix(text, known.code+" ") || text == known.code || strings.Contains(text, " -"+known.code+" ") {
			return known
		}
	}
	if strings.Contains(text, "The user executing the script can't ") { // which is no NOPERM there
		return reply{reason: engine.ReasonAuth, refusal: true}
	}
	return reply{reason: engine.ReasonOther, refusal: true}
}

// transportReason is why there was no answer. What is no timeout and no unfit certificate is a connection that could not be
// had or was cut: a driver has many words for that, such as a node's closed client while a cluster changes.
func transportReason(err error) engine.Reason {
	_, unfit := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return engine.ReasonTimeout
	case unfit:
		return engine.ReasonOther
	}
	return engine.ReasonRefused
}

func isTimeout(err error) bool {
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout()
}
