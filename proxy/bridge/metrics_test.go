package bridge_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"berth/proxy/bridge"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// outcomes is what has become of questions, by a meter's reader.
func outcomes(t *testing.T, reader sdkmetric.Reader) map[string]int64 {
	t.Helper()
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &collected); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != "berth.bridge.questions" {
				continue
			}
			for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
				outcome, _ := point.Attributes.Value("outcome")
				counts[outcome.AsString()] += point.Value
			}
		}
	}
	maps.DeleteFunc(counts, func(_ string, n int64) bool { return n == 0 })
	return counts
}

// What a server's own task asks is counted as what a call asks, however often it is shown.
func TestQuestionsOfTaskAreCounted(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	withTasks(t, func(o *bridge.Options) { o.Meter = meters }, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"),
			fmt.Sprintf(taskQuestion, 5, "elicitation/create"), fmt.Sprintf(taskQuestion, 6, "sampling/createMessage"),
			fmt.Sprintf(taskQuestion, 7, "elicitation/create"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		for range 3 {
			r.wantStatus(id, "input_required")
		}
		r.ask("alice", knowsTasks, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{"ask-5":{"action":"decline"}},`, id))
		want := map[string]int64{"asked": 2, "undeclared": 1, "settled": 1, "withdrawn": 1}
		if got := outcomes(t, reader); !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
