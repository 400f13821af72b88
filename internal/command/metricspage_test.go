package command

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/auditlog"
	"berth/internal/certs/certstest"
	"berth/internal/config"
	"berth/internal/mcptest"
	"berth/internal/site"
	"berth/internal/storage"
	"berth/internal/telemetry"
	"berth/internal/trouble"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

var updateMetrics = flag.Bool("update-metrics", false, "write docs/metrics.md and docs/metrics-reference.md anew")

// docs/metrics-reference.md is what berth's instruments say of themselves, with all that can be configured in use;
// docs/metrics.md is what of it the alert rules and the dashboard ask for:
//
//	make docs
func TestMetricsPagesAreWhatTheInstrumentsSay(t *testing.T) {
	seen := &catalogue{labels: map[string]map[string]map[string]bool{}}
	reader := sdkmetric.NewManualReader()
	seen.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	for _, callers := range []string{`principal = "header:X-User"`, "principal = \"jwt\"\n[auth.jwt]\n" + `issuer = "https://issuer.example"
jwks = "http://127.0.0.1:1/jwks"
resource = "https://mcp.example"`} {
		serveOnce(t, seen, callers, func() { seen.observe(t, reader) })
	}
	names := seen.shown(t)
	slices.SortFunc(seen.instruments, func(a, b instrument) int { return strings.Compare(names[a.name], names[b.name]) })
	holdPage(t, "metrics-reference.md", seen.page(t, names))
	holdPage(t, "metrics.md", seen.watchedPage(t, names))
}

// holdPage compares a page of docs with what it is to be, and writes it anew if that was asked for.
func holdPage(t *testing.T, name string, written []byte) {
	t.Helper()
	page := filepath.Join(module, "docs", name)
	if *updateMetrics {
		if err := os.WriteFile(page, written, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stands, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stands, written) {
		t.Errorf("docs/%s is not what the instruments say; write it with make docs\n%s", name, difference(string(stands), string(written)))
	}
}

// serveOnce makes all parts of a berth that measure, and has each kind of request be served.
func serveOnce(t *testing.T, meter metric.MeterProvider, callers string, observe func()) {
	t.Helper()
	tool := &mcptest.Server{Name: "a", SessionOptional: true}
	instance := httptest.NewServer(tool)
	t.Cleanup(func() { tool.Close(); instance.CloseClientConnections(); instance.Close() })
	cfg := everything(t, instance.URL, callers)
	log := slog.New(slog.DiscardHandler)
	deeds, err := auditlog.Open(auditlog.Options{Where: cfg.Log.Audit, Logger: log, Meter: meter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(deeds.Close)
	o := site.Observers{Log: log, Meter: meter, Troubles: trouble.New(meter)}
	store, err := storage.Open("memory:", storage.Options{Logger: log, MeterProvider: meter})
	if err != nil {
		t.Fatal(err)
	}
	s, err := site.New(t.Context(), site.Store{Store: store}, cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	s.Begin(true)
	newReloader(reading{}, nil, s, meter)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Entrances(listener, cfg)
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- s.Run(ctx) }()
	for _, name := range []string{"plain", "work"} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/open", strings.NewReader(body))
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		_, _ = io.Copy(io.Discard, w.Body)
	}
	observe()
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
	_ = s.Close()
	_ = listener.Close()
}

// everything is a configuration that leaves nothing out which measures.
func everything(t *testing.T, instance, callers string) config.Config {
	t.Helper()
	dir := t.TempDir()
	root := certstest.New(t)
	pair := root.Server("localhost")
	for name, data := range map[string][]byte{"cert.pem": pair.Cert, "key.pem": pair.Key, "ca.pem": root.PEM(), "instances.json": []byte("[]"), "token": []byte("Bearer x")} {
		certstest.Write(t, filepath.Join(dir, name), data)
	}
	text := fmt.Sprintf(`
proxy_protocol = true
trusted_proxies = ["127.0.0.1"]
[log]
audit = %[7]q
[tls]
cert = %[1]q
key = %[2]q
[auth]
%[6]s
[[limits.rate]]
tools = ["plain"]
rate = "10/s"
[[pools]]
name = "open"
path = "/open"
session_failover = "reinit"
authorization = "replace"
authorization_value_file = %[3]q
[pools.discover]
file = %[4]q
[[pools.upstreams]]
name = "a"
url = %[5]q
[[upgrade]]
pool = "open"
tools = ["work"]
[[upgrade.webhook]]
name = "ci"
url = "https://hooks.example.com/berth"
secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="]
`, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "token"), filepath.Join(dir, "instances.json"), instance+"/mcp", callers, "file:"+filepath.Join(dir, "audit.jsonl"))
	cfg, err := config.Parse("everything.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// catalogue knows the instruments that were made of it.
type catalogue struct {
	metric.MeterProvider
	instruments []instrument
	labels      map[string]map[string]map[string]bool // of instruments, by name; their values
}

type instrument struct{ name, kind, unit, says string }

// Meter implements metric.MeterProvider.
func (c *catalogue) Meter(name string, options ...metric.MeterOption) metric.Meter {
	return &cataloguing{c.MeterProvider.Meter(name, options...), c}
}

func (c *catalogue) add(one instrument) {
	one.says = strings.TrimSuffix(cmp.Or(plainer[one.name], one.says), ".")
	if !slices.ContainsFunc(c.instruments, func(i instrument) bool { return i.name == one.name }) {
		c.instruments = append(c.instruments, one)
	}
}

// cataloguing is a meter that tells of what it makes.
type cataloguing struct {
	metric.Meter
	in *catalogue
}

func (m *cataloguing) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	c := metric.NewInt64CounterConfig(o...)
	m.in.add(instrument{name, "counter", c.Unit(), c.Description()})
	return m.Meter.Int64Counter(name, o...)
}

func (m *cataloguing) Int64UpDownCounter(name string, o ...metric.Int64UpDownCounterOption) (metric.Int64UpDownCounter, error) {
	c := metric.NewInt64UpDownCounterConfig(o...)
	m.in.add(instrument{name, "gauge", c.Unit(), c.Description()})
	return m.Meter.Int64UpDownCounter(name, o...)
}

func (m *cataloguing) Float64Histogram(name string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	c := metric.NewFloat64HistogramConfig(o...)
	m.in.add(instrument{name, "histogram", c.Unit(), c.Description()})
	return m.Meter.Float64Histogram(name, o...)
}

func (m *cataloguing) Int64ObservableGauge(name string, o ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	c := metric.NewInt64ObservableGaugeConfig(o...)
	m.in.add(instrument{name, "gauge", c.Unit(), c.Description()})
	return m.Meter.Int64ObservableGauge(name, o...)
}

func (m *cataloguing) Float64ObservableGauge(name string, o ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	c := metric.NewFloat64ObservableGaugeConfig(o...)
	m.in.add(instrument{name, "gauge", c.Unit(), c.Description()})
	return m.Meter.Float64ObservableGauge(name, o...)
}

// observe learns the labels that instruments have, and their values.
func (c *catalogue) observe(t *testing.T, reader *sdkmetric.ManualReader) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			for _, set := range setsOf(m.Data) {
				for _, kv := range set.ToSlice() {
					c.label(m.Name, strings.ReplaceAll(string(kv.Key), ".", "_"), kv.Value.String())
				}
			}
		}
	}
	for name, labels := range unbegun {
		if !slices.ContainsFunc(c.instruments, func(i instrument) bool { return i.name == name }) {
			t.Errorf("no instrument is called %s", name)
		}
		for label, values := range labels {
			for _, value := range append(values, "") {
				c.label(name, label, value)
			}
		}
	}
}

func (c *catalogue) label(instrument, label, value string) {
	if c.labels[instrument] == nil {
		c.labels[instrument] = map[string]map[string]bool{}
	}
	if c.labels[instrument][label] == nil {
		c.labels[instrument][label] = map[string]bool{}
	}
	if value != "" {
		c.labels[instrument][label][value] = true
	}
}

func setsOf(data metricdata.Aggregation) (sets []attribute.Set) {
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes)
		}
	}
	return sets
}

// shown returns the names that Prometheus sees, by those of the instruments.
func (c *catalogue) shown(t *testing.T) map[string]string {
	t.Helper()
	tel, err := telemetry.Start(t.Context(), telemetry.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer tel.Shutdown(context.Background())
	meter := tel.MeterProvider().Meter("page")
	for _, i := range c.instruments {
		switch i.kind {
		case "counter":
			counter, _ := meter.Int64Counter(i.name, metric.WithUnit(i.unit))
			counter.Add(t.Context(), 1)
		case "histogram":
			histogram, _ := meter.Float64Histogram(i.name, metric.WithUnit(i.unit))
			histogram.Record(t.Context(), 1)
		default:
			gauge, _ := meter.Int64Gauge(i.name, metric.WithUnit(i.unit))
			gauge.Record(t.Context(), 1)
		}
	}
	w := httptest.NewRecorder()
	tel.MetricsHandler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	types := map[string]bool{}
	for line := range strings.Lines(w.Body.String()) {
		if words := strings.Fields(line); len(words) == 4 && words[1] == "TYPE" {
			types[words[2]] = true
		}
	}
	names := map[string]string{}
	for _, i := range c.instruments {
		name, unit := strings.ReplaceAll(i.name, ".", "_"), map[string]string{"s": "_seconds", "By": "_bytes"}[i.unit]
		name = strings.TrimSuffix(name, unit) + unit
		if i.kind == "counter" {
			name += "_total"
		}
		if names[i.name] = name; !types[name] {
			t.Errorf("%s is not shown as %s", i.name, name)
		}
	}
	return names
}

// page is the reference: every instrument, with its labels' values.
func (c *catalogue) page(t *testing.T, names map[string]string) []byte {
	t.Helper()
	var page bytes.Buffer
	page.WriteString(pageHead)
	for _, kind := range []string{"counter", "gauge", "histogram"} {
		fmt.Fprintf(&page, "\n| %s | labels | meaning |\n| --- | --- | --- |\n", kind)
		for _, i := range c.instruments {
			if i.kind != kind {
				continue
			}
			if i.says == "" {
				t.Errorf("%s does not say what it is", i.name)
			}
			fmt.Fprintf(&page, "| `%s` | %s | %s |\n", names[i.name], c.labelsOf(i.name), i.says)
		}
	}
	return page.Bytes()
}

// labelsOf are the labels of an instrument: with their values, where these are few and known.
func (c *catalogue) labelsOf(name string) string {
	var told []string
	for _, label := range c.labelNames(name) {
		values := slices.Sorted(maps.Keys(c.labels[name][label]))
		if slices.Contains(openLabels, label) || len(values) == 0 {
			told = append(told, label)
			continue
		}
		told = append(told, label+" ("+strings.Join(values, " ")+")")
	}
	return strings.Join(told, ", ")
}

// labelNames are the labels of an instrument.
func (c *catalogue) labelNames(name string) []string {
	return slices.SortedFunc(maps.Keys(c.labels[name]), func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
}

// rank has the labels that many metrics share come first.
func rank(label string) int {
	if at := slices.Index(openLabels, label); at >= 0 {
		return at
	}
	return len(openLabels)
}

// difference is where two texts begin to differ.
func difference(a, b string) string {
	one, two := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			return fmt.Sprintf("line %d:\n- %s\n+ %s", i+1, one[i], two[i])
		}
	}
	return fmt.Sprintf("%d lines, and %d", len(one), len(two))
}
