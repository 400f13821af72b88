package telemetry

import (
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is how many scrapes are served at once; each walks all series.
const maxScrapes = 4

// MetricsHandler serves all metrics as Prometheus text, to anybody: the admin listener asks for
// credentials.
func (t *Telemetry) MetricsHandler() http.Handler {
	metrics := promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(t.log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		metrics.ServeHTTP(&page{ResponseWriter: w}, r)
	})
}

// page is the answer to a scraper. One that hangs up is no failure to encode each of the metrics that are left.
type page struct {
	http.ResponseWriter
	gone bool
}

// Write writes until the scraper has gone, and then nothing.
func (p *page) Write(b []byte) (int, error) {
	if !p.gone {
		_, err := p.ResponseWriter.Write(b)
		p.gone = err != nil
	}
	return len(b), nil
}
