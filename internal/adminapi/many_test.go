package adminapi_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"berth/internal/api"
	"berth/internal/storage/redistest"
	"berth/sticky"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"golang.org/x/sync/errgroup"
)

const many = 4_000

// With thousands of live tasks, of which half are berth's own, questions are answered out of memory: the
// store is asked for so many at a time, once for all who ask. How long answers take is told, not judged.
func TestManyTasksAreReadInBatches(t *testing.T) {
	if testing.Short() {
		t.Skip("makes thousands of tasks")
	}
	reader := sdkmetric.NewManualReader()
	r := newWorkRig(t, redistest.Start(t).URL(), sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	rule := r.rule
	rule.Concurrency = 0
	began := time.Now()
	var making errgroup.Group
	making.SetLimit(4) // few enough that a slow machine's store answers each in time
	for i := range many / 2 {
		making.Go(func() error {
			r.bind(sticky.Task, "q", "", fmt.Sprint("server-", i), sticky.Binding{Upstream: "a", Dialect: "extension", Tool: "render", Status: "working"})
			r.hand(rule, "", "hang")
			return nil
		})
	}
	_ = making.Wait()
	t.Logf("%d tasks were made in %v", many, time.Since(began).Round(time.Millisecond))

	before := reads(t, reader)
	began = time.Now()
	var status api.Status
	r.must("GET", "/v1/status", "", &status)
	if n := status.Tasks.ByState["working"] + status.Tasks.ByState["dispatched"]; n != many && status.Partial == "" {
		t.Errorf("%d tasks are counted of %d, and nothing says that they are not all", n, many)
	}
	var told api.Tasks
	var first time.Duration
	for first == 0 || told.Partial != "" {
		told = api.Tasks{}
		r.must("GET", "/v1/tasks?limit=1", "", &told)
		if first == 0 {
			first = time.Since(began)
		}
	}
	whole, trips := time.Since(began), reads(t, reader)-before
	if told.Total != many {
		t.Errorf("%d tasks are told of", told.Total)
	}
	if most := int64(many/128 + many/128/10 + 100); trips > most {
		t.Errorf("the store was asked %d times for one list, want %d at most", trips, most)
	}
	t.Logf("the first answer, of what was read so far, came after %v, the whole after %v, with %d questions to the store", first.Round(time.Millisecond), whole.Round(time.Millisecond), trips)

	for _, query := range []string{"", "limit=1000", "pool=q", "kind=upgraded&state=accepted,dispatched", "tool=*r*d*", "older=1h", "id=server-77"} {
		began = time.Now()
		r.must("GET", "/v1/tasks?"+query, "", &told)
		t.Logf("?%-40s %6d tasks after %v", query, told.Total, time.Since(began).Round(10*time.Microsecond))
	}
	asked := reads(t, reader)
	for range 20 { // a slow machine reads the list anew meanwhile: once, or twice
		r.must("GET", "/v1/tasks?pool=q", "", &told)
	}
	if more := reads(t, reader) - asked; more > 5*trips {
		t.Errorf("twenty questions asked the store %d times", more)
	}
}

// reads counts what the store was asked for.
func reads(t *testing.T, reader *sdkmetric.ManualReader) (n int64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, one := range scope.Metrics {
			if h, ok := one.Data.(metricdata.Histogram[float64]); ok && one.Name == "berth.store.operation.duration" {
				for _, point := range h.DataPoints {
					switch op, _ := point.Attributes.Value("operation"); op.AsString() {
					case "get", "get_some", "listing", "page", "members":
						n += int64(point.Count)
					}
				}
			}
		}
	}
	return n
}
