package integration

import (
	"io"
	"net/http"
	"testing"
	"time"
)

// watched is a berth with its admin listener.
type watched struct {
	*berth

	// admin is http://host:port of probes and metrics.
	admin string
}

// startWatched starts berth as startBerth does, and waits for its admin listener.
func startWatched(t testing.TB, f fleet, args ...string) *watched {
	t.Helper()
	skipShort(t)
	address := freeAddress(t)
	b := &watched{
		berth: startBerth(t, f, append([]string{"--admin", address}, args...)...),
		admin: "http://" + address,
	}
	if !await(t, readyWithin, func() bool { status, _ := fetch(t, b.admin+"/livez"); return status == http.StatusOK }) {
		t.Fatal("the admin listener does not answer")
	}
	return b
}

// scrape is the text of /metrics.
func (b *watched) scrape(t testing.TB) string {
	t.Helper()
	status, text := fetch(t, b.admin+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("/metrics: got %d %q", status, text)
	}
	return text
}

// metric adds up the series of a metric that have all the labels, given as
// name="value".
func (b *watched) metric(t testing.TB, name string, labels ...string) int {
	t.Helper()
	return int(sumSeries(t, b.scrape(t), name, labels...))
}

// polls is how many tasks/get were routed by what berth found in source.
func (b *watched) polls(t testing.TB, source string) int {
	t.Helper()
	return b.metric(t, "berth_requests_total", `mcp_method_name="tasks/get"`, `source="`+source+`"`)
}

// storeErrors is how many operations of the store failed: those for which it was late,
// as it is now and then on a busy machine, and those that went wrong.
func (b *watched) storeErrors(t testing.TB) (late, wrong int) {
	t.Helper()
	const name = "berth_store_errors_total"
	text := b.scrape(t)
	late = int(sumSeries(t, text, name, `reason="timeout"`) + sumSeries(t, text, name, `reason="breaker_open"`))
	return late, int(sumSeries(t, text, name)) - late
}

// adminClient keeps no connection: it must not count among what berth holds open.
var adminClient = http.Client{
	Timeout:   10 * time.Second,
	Transport: &http.Transport{DisableKeepAlives: true},
}

// fetch gets a page; status 0 means that nobody answered.
func fetch(t testing.TB, url string) (status int, text string) {
	t.Helper()
	response, err := adminClient.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}
