package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
)

// errorAnswer is an error answer of a server.
type errorAnswer string

func (a errorAnswer) Error() string { return string(a) }
func (errorAnswer) RedisError()     {}

func TestWhatADriversErrorMeans(t *testing.T) {
	for _, c := range []struct {
		err     error
		reason  reason
		refusal bool
	}{
		{errorAnswer("CLUSTERDOWN Hash slot not served"), reasonLoading, false},
		{errorAnswer("CLUSTERDOWN The cluster is down"), reasonLoading, false},
		{errorAnswer("MOVED 3999 127.0.0.1:6381"), reasonLoading, false},
		{errorAnswer("TRYAGAIN Multiple keys request during rehashing of slot"), reasonLoading, false},
		{errorAnswer("LOADING Redis is loading the dataset in memory"), reasonLoading, false},
		{errorAnswer("MASTERDOWN Link with MASTER is down"), reasonLoading, false},
		{errorAnswer("UNBLOCKED force unblock from blocking operation"), reasonLoading, false},
		{errorAnswer("NOSCRIPT No matching script"), reasonLoading, false},
		{errorAnswer("NOREPLICAS Not enough good replicas to write"), reasonUnreplicated, true},
		{errorAnswer("READONLY You can't write against a read only replica"), reasonReadonly, true},
		{errorAnswer("CROSSSLOT Keys in request don't hash to the same slot"), reasonOther, true},
		{errMalformed, reasonOther, true},
		{redis.ErrPoolTimeout, reasonBusy, true},
		{context.DeadlineExceeded, reasonTimeout, false},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, reasonRefused, false},
		{fmt.Errorf("read: %w", syscall.ECONNRESET), reasonRefused, false},
		{io.ErrUnexpectedEOF, reasonRefused, false},
		{redis.ErrClosed, reasonRefused, false}, // of a node that left the cluster
		{errors.New("redis: cluster has no nodes"), reasonRefused, false},
		{&tls.CertificateVerificationError{Err: io.EOF}, reasonOther, false},
		{context.Canceled, reasonRefused, false}, // not by the caller: see fail
	} {
		if why, refusal := meaning(c.err); why != c.reason || refusal != c.refusal {
			t.Errorf("%v: got %s, %v, want %s, %v", c.err, why, refusal, c.reason, c.refusal)
		}
	}
}
