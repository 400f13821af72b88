package storage_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// D19: a line that is slow, though not beyond the time-out, makes operations slow
// and not fail: neither the first one, which also dials and says hello, nor the rest.
// Line and time-out are eight times as slow as they would be: beside 250 ms a busy
// machine's pauses are as long as what the line leaves, and would be taken for it.
func TestSlowLineIsNoOutage(t *testing.T) {
	t.Parallel()
	const slower = 8
	server := redistest.Start(t)
	for name, line := range map[string]*redistest.Relay{
		"100 ms":   {Delay: slower * 100 * time.Millisecond},
		"10 kB/s":  {Rate: 10_000 / slower},
		"the both": {Delay: slower * 100 * time.Millisecond, Rate: 10_000 / slower},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line.Start(t, server.Addr)
			s := open(t, "redis://"+line.Addr(), storage.Options{Prefix: name, Timeout: slower * 250 * time.Millisecond})
			put(t, s, "k", "v")
			for range 4 {
				if !reads(t, s, "k", "v") {
					t.Error("a read failed")
				}
			}
			if got := line.Accepted(); got != 1 {
				t.Errorf("connections: got %d, want 1: some were given up", got)
			}
		})
	}
}

// The answer to a write is lost. The caller repeats it and recognises its own record
// by its bytes, and by the version that it was the first.
func TestLostAnswerIsRecognised(t *testing.T) {
	server := redistest.Start(t)
	var line redistest.Relay
	line.Start(t, server.Addr)
	s := open(t, "redis://"+line.Addr(), storage.Options{})
	put(t, s, "other", "v") // from now on the server knows the script

	line.Mute.Store(true)
	_, _, err := s.PutIfAbsent(t.Context(), "k", []byte("mine"), longLife)
	unavailable(t, err, "timeout")
	line.Mute.Store(false)
	standing, created, err := s.PutIfAbsent(t.Context(), "k", []byte("mine"), longLife)
	if err != nil || created || string(standing.Value) != "mine" || standing.Version != 1 {
		t.Errorf("PutIfAbsent again: got %q at %d, created %v, %v; want mine at 1, false",
			standing.Value, standing.Version, created, err)
	}

	line.Mute.Store(true)
	_, err = s.Swap(t.Context(), "k", 1, []byte("next"), longLife)
	unavailable(t, err, "timeout")
	line.Mute.Store(false)
	standing, err = s.Swap(t.Context(), "k", 1, []byte("next"), longLife)
	if !errors.Is(err, storage.ErrConflict) || string(standing.Value) != "next" || standing.Version != 2 {
		t.Errorf("Swap again: got %q at %d, %v; want next at 2, ErrConflict", standing.Value, standing.Version, err)
	}
}

// A write whose answer is late is not sent again behind the caller's back.
func TestWritesAreSentOnce(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	put(t, s, "k", "v")
	var running sync.WaitGroup
	for range 50 { // idle connections that a repetition could take at once
		running.Go(func() { reads(t, s, "k", "v") })
	}
	running.Wait()
	server.Stop()
	unavailable(t, s.Put(t.Context(), "k", []byte("w"), longLife), "timeout")
	server.Cont()
	realtest.Eventually(t, "the write arrived", func() bool {
		record, err := s.Get(t.Context(), "k")
		if err == nil && record.Version > 2 {
			t.Fatalf("version: got %d, want 2: the write was sent twice", record.Version)
		}
		return record.Version == 2
	})
}

// Callers that leave say nothing about the server.
func TestLeavingCallersAreNoOutage(t *testing.T) {
	server := redistest.Start(t)
	line := &redistest.Relay{}
	line.Start(t, server.Addr)
	s := open(t, "redis://"+line.Addr(), storage.Options{})
	put(t, s, "k", "v")
	line.Mute.Store(true)
	for range 5 {
		leaveMidway(t, s)
	}
	line.Mute.Store(false)
	if !reads(t, s, "k", "v") || !s.Healthy() {
		t.Error("callers who left were taken for an outage")
	}
}

// leaveMidway cancels a read that waits for its answer.
func leaveMidway(t *testing.T, s *storage.Store) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left := make(chan error, 1)
	go func() {
		_, err := s.Get(ctx, "k")
		left <- err
	}()
	select {
	case err := <-left:
		t.Errorf("Get of a muted line: got %v, want it to wait", err)
	case <-time.After(20 * time.Millisecond):
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) || errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Get: got %v, want context.Canceled", err)
		}
	}
}

// D18: a certificate that is not to be trusted keeps the store away; roots that vouch
// for the server bring it near.
func TestOnlyAServerThatIsVouchedForIsTrusted(t *testing.T) {
	server := redistest.Start(t)
	valid, expired := certificate(t, time.Hour), certificate(t, -time.Minute)
	for _, tc := range []struct {
		name   string
		shown  tls.Certificate
		roots  tls.Certificate
		query  string
		served bool
	}{
		{name: "trusted", shown: valid, roots: valid, served: true},
		{name: "unknown root", shown: valid, roots: expired},
		{name: "expired", shown: expired, roots: expired},
		{name: "expired, unverified", shown: expired, roots: valid, query: "?skip_verify=true", served: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			line := &redistest.Relay{TLS: &tls.Config{Certificates: []tls.Certificate{tc.shown}}}
			line.Start(t, server.Addr)
			roots := x509.NewCertPool()
			roots.AddCert(tc.roots.Leaf)
			var log realtest.Journal
			s := open(t, "rediss://:"+canary+"@"+line.Addr()+"/0"+tc.query,
				storage.Options{Logger: logger(&log), TLS: trusting(roots)})
			err := s.Ping(t.Context())
			if tc.served != (err == nil) || tc.served != s.Healthy() {
				t.Errorf("Ping: got %v, healthy %v; want served %v", err, s.Healthy(), tc.served)
			}
			if !tc.served {
				unavailable(t, err, "other")
			}
			silent(t, s, &log, err)
		})
	}
}

// certificate is self-signed for 127.0.0.1 and valid for that long from now.
func certificate(t *testing.T, valid time.Duration) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(valid),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(fmt.Errorf("parsing what was just made: %w", err))
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}
