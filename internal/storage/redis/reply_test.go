package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// errorAnswer is an error answer of a server.
type errorAnswer string

func (a errorAnswer) Error() string { return string(a) }
func (errorAnswer) RedisError()     {}

func TestWhatADriversErrorMeans(t *testing.T) {
	for _, c := range []struct {
		err     error
		reason  engine.Reason
		refusal bool
	}{
		{errorAnswer("CLUSTERDOWN Hash slot not served"), engine.ReasonLoading, false},
		{errorAnswer("CLUSTERDOWN The cluster is down"), engine.ReasonLoading, false},
		{errorAnswer("MOVED 3999 127.0.0.1:6381"), engine.ReasonLoading, false},
		{errorAnswer("TRYAGAIN Multiple keys request during rehashing of slot"), engine.ReasonLoading, false},
		{errorAnswer("LOADING Redis is loading the dataset in memory"), engine.ReasonLoading, false},
		{errorAnswer("MASTERDOWN Link with MASTER is down"), engine.ReasonLoading, false},
		{errorAnswer("UNBLOCKED force unblock from blocking operation"), engine.ReasonLoading, false},
		{errorAnswer("NOSCRIPT No matching script"), engine.ReasonLoading, false},
		{errorAnswer("NOREPLICAS Not enough good replicas to write"), engine.ReasonUnreplicated, true},
		{errorAnswer("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."), engine.ReasonDisk, true},
		{errorAnswer("READONLY You can't write against a read only replica"), engine.ReasonReadonly, true},
		{errorAnswer("CROSSSLOT Keys in request don't hash to the same slot"), engine.ReasonOther, true},
		{errorAnswer("NOPERM this user has no permissions to run the 'pttl' command"), engine.ReasonAuth, true},
		{errorAnswer("ERR The user executing the script can't run this command or subcommand script: 5b1c, on @user_script:20."), engine.ReasonAuth, true},
		{errorAnswer("ERR Error running script (call to f_5b1c): @user_script:20: @user_script: 20: The user executing the script can't access at least one of the keys mentioned in the command "), engine.ReasonAuth, true},
		{errorAnswer("ERR max number of clients + cluster connections reached"), engine.ReasonRefused, false},
		{errorAnswer("DENIED Redis is running in protected mode because protected mode is enabled"), engine.ReasonRefused, false},
		{errMalformed, engine.ReasonOther, true},
		{redis.ErrPoolTimeout, engine.ReasonBusy, true},
		{context.DeadlineExceeded, engine.ReasonTimeout, false},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, engine.ReasonRefused, false},
		{fmt.Errorf("read: %w", syscall.ECONNRESET), engine.ReasonRefused, false},
		{io.ErrUnexpectedEOF, engine.ReasonRefused, false},
		{redis.ErrClosed, engine.ReasonRefused, false}, // of a node that left the cluster
		{errors.New("redis: cluster has no nodes"), engine.ReasonRefused, false},
		{&tls.CertificateVerificationError{Err: io.EOF}, engine.ReasonOther, false},
		{context.Canceled, engine.ReasonRefused, false}, // not by the caller: see fail
	} {
		if why, refusal := meaning(c.err); why != c.reason || refusal != c.refusal {
			t.Errorf("%v: got %s, %v, want %s, %v", c.err, why, refusal, c.reason, c.refusal)
		}
	}
}
