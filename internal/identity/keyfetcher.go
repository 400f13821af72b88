package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"berth/internal/series"

	"github.com/go-jose/go-jose/v4"
	"go.opentelemetry.io/otel/metric"
)

const (
	refreshEvery = 5 * time.Minute  // between fetches that nothing asked for
	minGap       = 30 * time.Second // between fetches, whatever asks for them, once there are keys
	firstRetry   = time.Second      // after the first failure before there are keys; doubled up to minGap
	fetchTimeout = 5 * time.Second  // of one fetch
	maxKeySet    = 1 << 20          // bytes of a key set
)

// FetcherOptions say where a [KeyFetcher] fetches. Only URL is required.
type FetcherOptions struct {
	URL       string               // the issuer's key set: https, or http on loopback
	Transport http.RoundTripper    // fetches. Nil: one of its own, which knows no proxies.
	Logger    *slog.Logger         // hears when keys change, cannot be fetched, and can again. Nil: nobody does.
	Meter     metric.MeterProvider // counts fetches and keys. Nil: nobody does.
}

// KeyFetcher is an issuer's keys at a URL. Run fetches: at the start, every five minutes, and when
// a token names an unknown key or none verifies it, but not twice in 30 seconds. Keys stay in use while they cannot be
// fetched anew.
type KeyFetcher struct {
	url     string
	client  http.Client
	log     *slog.Logger
	fetches series.Outcomes
	state   atomic.Pointer[fetched]
	wanted  chan struct{} // somebody needs a key that is not there

	unobserve func()
}

type fetched struct {
	keys  *keySet       // nil: there were never any
	err   error         // of the last fetch; nil if it went well
	began time.Time     // of the last fetch; zero: there was none
	since time.Time     // since when fetches fail
	tries int           // fetches that failed in a row
	next  chan struct{} // closed when the next fetch has ended
}

// NewKeyFetcher returns a fetcher that has fetched nothing yet. Run it.
func NewKeyFetcher(o FetcherOptions) *KeyFetcher {
	f := &KeyFetcher{
		url: o.URL,
		client: http.Client{
			Transport:     o.Transport,
			Timeout:       fetchTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		log:    cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		wanted: make(chan struct{}, 1),
	}
	if o.Transport == nil {
		f.client.Transport = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: fetchTimeout}).DialContext,
			TLSHandshakeTimeout: fetchTimeout,
			DisableKeepAlives:   true, // fetches are minutes apart
			ForceAttemptHTTP2:   true,
		}
	}
	f.state.Store(&fetched{next: make(chan struct{})})
	meter := series.Meter(o.Meter, "berth/identity")
	f.fetches = series.NewOutcomes(meter, "berth.jwks.fetches", "Fetches of the issuer's signing keys.")
	f.unobserve = series.Gauge(meter, "berth.jwks.keys", "Signing keys of the issuer's in use.", "", func() int64 {
		if keys := f.state.Load().keys; keys != nil {
			return int64(len(keys.keys))
		}
		return 0
	})
	return f
}

// Find implements Keys. For a missing key it waits for one fetch, if that is due.
func (f *KeyFetcher) Find(ctx context.Context, kid string, algorithm jose.SignatureAlgorithm) ([]*jose.JSONWebKey, error) {
	state := f.state.Load()
	keys, err := state.find(kid, algorithm)
	if err == nil || errors.Is(err, ErrUnfitKey) || !state.due() {
		return keys, err
	}
	if !f.fetchedAfter(ctx, state) {
		return nil, ErrKeysAway
	}
	return f.state.Load().find(kid, algorithm)
}

// Renewed implements Keys, if a fetch is due.
func (f *KeyFetcher) Renewed(ctx context.Context) bool {
	state := f.state.Load()
	return state.due() && f.fetchedAfter(ctx, state) && f.state.Load().err == nil
}

// fetchedAfter has keys fetched, and waits for that.
func (f *KeyFetcher) fetchedAfter(ctx context.Context, state *fetched) bool {
	select {
	case f.wanted <- struct{}{}:
	default: // a fetch is asked for already
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout+time.Second)
	defer cancel()
	select {
	case <-state.next:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *fetched) due() bool {
	return s.began.IsZero() || s.keys != nil && time.Since(s.began) >= minGap
}

// find: that a key is not there says little if keys could not be fetched lately.
func (s *fetched) find(kid string, algorithm jose.SignatureAlgorithm) ([]*jose.JSONWebKey, error) {
	if s.keys == nil {
		return nil, ErrKeysAway
	}
	keys, err := s.keys.find(kid, algorithm)
	if errors.Is(err, ErrUnknownKey) && s.err != nil {
		return nil, ErrKeysAway
	}
	return keys, err
}

// Ready reports whether there are keys, and what is wrong with them.
func (f *KeyFetcher) Ready() (ready bool, detail string) {
	state := f.state.Load()
	switch {
	case state.err != nil:
		return state.keys != nil, fmt.Sprintf("keys cannot be fetched since %sZ: %v", state.since.UTC().Format(time.TimeOnly), state.err)
	case state.keys == nil:
		return false, "keys have not been fetched yet"
	}
	return true, ""
}

// Close ends what is measured. Call it after Run, or in its place.
func (f *KeyFetcher) Close() { f.unobserve() }

// Run fetches until ctx ends. It returns nil.
func (f *KeyFetcher) Run(ctx context.Context) error {
	for {
		f.refresh(ctx)
		timer := time.NewTimer(f.pause())
		if !f.await(ctx, timer) {
			return nil
		}
	}
}

// await waits for the next fetch: its time, or somebody who may have it. false: ctx ended.
func (f *KeyFetcher) await(ctx context.Context, timer *time.Timer) bool {
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-f.wanted:
			if f.state.Load().due() {
				return true
			}
		}
	}
}

func (f *KeyFetcher) pause() time.Duration {
	state := f.state.Load()
	switch {
	case state.err == nil:
		return refreshEvery
	case state.keys == nil:
		return min(firstRetry<<min(state.tries-1, 10), minGap)
	}
	return minGap
}

func (f *KeyFetcher) refresh(ctx context.Context) {
	began := time.Now()
	keys, err := f.fetch(ctx)
	if ctx.Err() != nil {
		return // it ended with the process, and says nothing about the issuer
	}
	f.fetches.Count(err)
	before := f.state.Load()
	after := &fetched{keys: keys, err: err, began: began, next: make(chan struct{})}
	if err != nil {
		after.keys, after.since, after.tries = before.keys, cmp.Or(before.since, began), before.tries+1
	}
	f.state.Store(after)
	close(before.next)
	f.tell(before, after)
}

func (f *KeyFetcher) tell(before, after *fetched) {
	switch {
	case after.err != nil && before.err == nil:
		f.log.Warn("signing keys cannot be fetched", "error", after.err, "had", after.keys != nil)
	case after.err == nil && (before.err != nil || before.keys == nil):
		f.log.Info("signing keys fetched", "keys", len(after.keys.keys))
	}
}

// fetch fetches the key set. A redirect is an error: the keys' place is configured.
func (f *KeyFetcher) fetch(ctx context.Context) (*keySet, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	response, err := f.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", f.url, response.Status)
	}
	document, err := io.ReadAll(io.LimitReader(response.Body, maxKeySet+1))
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", f.url, err)
	}
	if len(document) > maxKeySet {
		return nil, fmt.Errorf("GET %s: more than %d bytes", f.url, maxKeySet)
	}
	keys, err := parseKeys(document)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", f.url, err)
	}
	return keys, nil
}
