package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

type reply struct {
	code    string // how it begins
	reason  reason
	refusal bool // PING would be answered all the same
}

var replies = []reply{
	{code: "OOM", reason: reasonOOM, refusal: true},
	{code: "READONLY", reason: reasonReadonly, refusal: true},
	{code: "NOPERM", reason: reasonAuth, refusal: true},
	{code: "LOADING", reason: reasonLoading},
	{code: "MASTERDOWN", reason: reasonLoading},
	{code: "CLUSTERDOWN", reason: reasonLoading},
	{code: "MOVED", reason: reasonLoading}, // again and again, or by a node of a cluster that was named as a single server
	{code: "ASK", reason: reasonLoading},
	{code: "TRYAGAIN", reason: reasonLoading}, // a slot that moves
	{code: "UNBLOCKED", reason: reasonLoading},
	{code: "NOSCRIPT", reason: reasonLoading},
	{code: "NOREPLICAS", reason: reasonUnreplicated, refusal: true},
	{code: "NOAUTH", reason: reasonAuth},
	{code: "WRONGPASS", reason: reasonAuth},
	{code: "BUSY", reason: reasonTimeout},
	{code: "ERR max number of clients reached", reason: reasonRefused},
}

// fail words a driver's error as Engine promises. Only the caller's ctx can tell one who left from
// a slow server.
func (r *redisEngine) fail(ctx context.Context, op string, err error) error {
	if err == nil || err == errAshore {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("storage: %s: %w", op, context.Canceled)
	}
	f := &fault{op: op, detail: r.target.scrub(err.Error()), deadline: ctx.Err()}
	told, went := err.(toldOf)
	if went {
		err = told.error
	}
	f.reason, f.refusal = meaning(err)
	f.told = went && f.reason != reasonTimeout // of those the breaker asks how long nobody was answered
	if !f.refusal && r.relocate != nil {
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

func meaning(err error) (why reason, refusal bool) {
	switch {
	case errors.Is(err, errUnreplicated):
		return reasonUnreplicated, true
	case errors.Is(err, redis.ErrPoolTimeout):
		return reasonBusy, true
	case errors.Is(err, errClusterState):
		return reasonLoading, false
	case errors.Is(err, errMalformed): // the server is well, one key cannot be read
		return reasonOther, true
	}
	if answer, ok := errors.AsType[redis.Error](err); ok {
		known := lookup(answer.Error())
		// What was said while the connection was made is about every command.
		_, toCommand := err.(redis.Error)
		return known.reason, known.refusal && toCommand
	}
	return transportReason(err), false
}

// lookup finds an error answer. Redis before 7 quotes the error of a script's command within its
// own.
func lookup(text string) reply {
	for _, known := range replies {
		if strings.HasPrefix(text, known.code+" ") || text == known.code || strings.Contains(text, " -"+known.code+" ") {
			return known
		}
	}
	return reply{reason: reasonOther, refusal: true}
}

// transportReason is why there was no answer. What is no timeout and no unfit certificate is a connection that could not be
// had or was cut: a driver has many words for that, such as a node's closed client while a cluster changes.
func transportReason(err error) reason {
	_, unfit := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return reasonTimeout
	case unfit:
		return reasonOther
	}
	return reasonRefused
}

func isTimeout(err error) bool {
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout()
}
