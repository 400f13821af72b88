package certs_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/certs"
	"berth/internal/certs/certstest"
	"berth/internal/framing"
	"berth/internal/memnet"
	"berth/internal/reload"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// A site is a server in memory whose certificates lie in files.
type site struct {
	t        *testing.T
	dir      string
	root     *certstest.Authority // of the server's certificate
	certs    *certs.Certs
	listener *memnet.Listener
	logs     bytes.Buffer
	metrics  *sdkmetric.ManualReader
}

// newSite serves until the test ends. Call it within a bubble.
func newSite(t *testing.T, o certs.Options, clients *certstest.Authority) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), root: certstest.New(t), listener: memnet.Listen("localhost"), metrics: sdkmetric.NewManualReader()}
	s.show(s.root.Server("first"))
	o.Cert, o.Key = s.path("cert.pem"), s.path("key.pem")
	if clients != nil {
		o.ClientCA = s.path("ca.pem")
		s.write("ca.pem", clients.PEM())
	}
	o.Logger = slog.New(slog.NewTextHandler(&s.logs, nil))
	o.Meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(s.metrics))
	var err error
	if s.certs, err = certs.Open(o); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, r.TLS.NegotiatedProtocol)
		}),
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { _ = server.Serve(framing.NewListener(s.certs.Listener(s.listener), 0)) }()
	go func() {
		defer close(done)
		_ = s.certs.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		// Both ends of a connection say goodbye at once, and an unbuffered pipe hears
		// neither: that takes TLS 5 s. Close would hold the server's lock meanwhile, and a
		// lock that others wait for stops a bubble's time.
		time.Sleep(time.Minute)
		_ = server.Close()
	})
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name string, content []byte) { certstest.Write(s.t, s.path(name), content) }

func (s *site) show(p certstest.Pair) {
	s.write("cert.pem", p.Cert)
	s.write("key.pem", p.Key)
}

// settle waits until a change of files was seen.
func (s *site) settle() {
	time.Sleep(reload.Every + time.Millisecond)
	synctest.Wait()
}

// get makes a request on a connection of its own, and returns the server's
// certificate and the answer.
func (s *site) get(config *tls.Config) (*x509.Certificate, string, error) {
	config = config.Clone()
	config.RootCAs, config.ServerName = s.root.Pool(), "localhost"
	transport := &http.Transport{
		TLSClientConfig: config, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.listener.Dial(ctx) },
	}
	response, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Get("https://localhost/")
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.TLS.PeerCertificates[0], string(body), err
}

// shown is the common name of the certificate that is shown.
func (s *site) shown() string {
	s.t.Helper()
	cert, _, err := s.get(new(tls.Config))
	if err != nil {
		s.t.Fatal(err)
	}
	return cert.Subject.CommonName
}

func named(uri string) x509.Certificate {
	u, _ := url.Parse(uri)
	return x509.Certificate{URIs: []*url.URL{u}}
}

// reloads is what was counted of them, by outcome.
func (s *site) reloads() map[string]int64 {
	var all metricdata.ResourceMetrics
	if err := s.metrics.Collect(context.Background(), &all); err != nil {
		s.t.Fatal(err)
	}
	counted := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "berth.reloads" {
				for _, point := range sum.DataPoints {
					outcome, _ := point.Attributes.Value("outcome")
					counted[outcome.AsString()] += point.Value
				}
			}
		}
	}
	return counted
}

// with is a client's configuration that shows the certificate whomever the server
// trusts.
func with(t *testing.T, pairs ...certstest.Pair) *tls.Config {
	config := new(tls.Config)
	for _, p := range pairs {
		cert := p.TLS(t)
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	}
	return config
}
