package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// saying acknowledges filter on a subscription, under the id of its request, and then says
// all this; ID stands for that id.
func saying(filter string, messages ...string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(body, &m) != nil || m.Method != "subscriptions/listen" {
			return false
		}
		ack := notified("subscriptions/acknowledged", "ID", `"notifications":`+filter)
		return streams(func(ctx context.Context, write func(string)) {
			say := func(messages ...string) {
				for _, message := range messages {
					write("data: " + strings.ReplaceAll(message, `Id":ID`, `Id":`+string(m.ID)) + "\n\n")
				}
			}
			say(notified("tools/list_changed", "ID", ""), ack)
			time.Sleep(time.Millisecond) // what a shared stream says before its subscriber is acknowledged is said to nobody
			say(messages...)
			<-ctx.Done()
		})(w, r, body)
	}
}

// notified is a notification of the subscription with this id, "" for none, with members of
// params.
func notified(method, id, params string) string {
	if id != "" {
		id = `"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s","params":{%s}}`, method, strings.Trim(id+","+params, ","))
}

// intruding is what a server says of which a subscriber that asked for lists of tools and
// one resource, and was granted them, is told four things.
var intruding = []string{
	notified("tools/list_changed", "ID", ""),
	notified("tools/list_changed", "", ""),                                                   // made to name the subscription
	`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,                          // without any params
	notified("tools/list_changed", `"another"`, ""),                                          // foreign
	`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":[]}`,              // other, or passes nowhere
	notified("prompts/list_changed", "ID", ""),                                               // asked for, not granted
	notified("resources/list_changed", "ID", ""),                                             // granted, not asked for
	notified("resources/updated", "ID", `"uri":"file:///b"`),                                 // another resource
	notified("resources/updated", "ID", `"uri":"file:///ab"`),                                // another one
	notified("resources/updated", "ID", `"uri":"file:///a/b"`),                               // a sub-resource
	notified("tasks", "ID", `"taskId":"another's","status":"working"`),                       // a task
	notified("message", "ID", `"level":"info","data":"x"`),                                   // never granted here
	notified("progress", "ID", `"progressToken":1,"progress":1`),                             // nor this
	`{"jsonrpc":"2.0","id":"another","result":{"resultType":"complete"}}`,                    // another's end
	`{"jsonrpc":"2.0","id":"another","error":{"code":-32603,"message":"x"}}`,                 // another's refusal
	`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?"}}`,        // a request
	`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","method":"x","params":{}}`, // garbage
}

var granted = []string{"tools/list_changed", "tools/list_changed", "tools/list_changed", "resources/updated file:///a/b"}

// A subscriber is told what it asked for and was granted, under its own id (2026-07-28,
// subscriptions): whatever else its server says is dropped, and counted.
func TestSubscriberIsToldWhatItWasGrantedAlone(t *testing.T) {
	for name, fleetwide := range map[string]bool{"own stream": false, "shared stream": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reader := metric.NewManualReader()
				f := newRig(t, rigOptions{
					size:     1,
					endpoint: func(ep *proxy.Endpoint) { ep.FleetNotifications = fleetwide },
					options:  func(o *proxy.Options) { o.Meter = metric.NewMeterProvider(metric.WithReader(reader)) },
				})
				f.servers[0].inject(saying(`{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a","file:///b"]}`, intruding...))
				s := f.subscribe(`"mine"`, `{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["file:///a"]}`)
				time.Sleep(time.Second)
				synctest.Wait()
				if got, want := s.agreed(), `{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}`; got != want {
					t.Errorf("agreed to %s, want %s", got, want)
				}
				told := s.told()
				if fleetwide { // of equal hints that wait one is as good as many
					told = slices.Compact(told)
				}
				want := granted
				if fleetwide {
					want = slices.Compact(slices.Clone(granted))
				}
				if !slices.Equal(told, want) {
					t.Errorf("told %v, want %v", told, want)
				}
				if got, want := dropped(t, reader), map[string]int64{"unasked": 7, "other": 4}; fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("counted %v, want %v", got, want)
				}
				if n := sumOf(t, reader, "berth.crossed_answers", "upstream", "a"); n != 3 {
					t.Errorf("%d counted as another's, want 3", n)
				}
			})
		})
	}
}

// dropped is what was counted, by reason.
func dropped(t *testing.T, reader *metric.ManualReader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	counted := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != "berth.subscription.dropped" {
				continue
			}
			for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
				reason, _ := point.Attributes.Value("reason")
				counted[reason.AsString()] += point.Value
			}
		}
	}
	return counted
}

// Of several owners each tells of its own tasks that were asked for and granted, and of
// nothing else.
func TestOwnerTellsOfTheTasksThatItWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := spread(t)
		ids := f.onEach(600)
		all := func(params string) (out []string) {
			for _, id := range append(slices.Clone(ids), "another's") {
				out = append(out, notified("tasks", "ID", `"taskId":"`+id+`","status":"input_required"`+params))
			}
			return out
		}
		long := `,"x":"` + strings.Repeat("y", 300<<10) + `"`
		f.servers[0].inject(saying(tasksFilter("", ids[0]), append(all(""), append(all(long), notified("tools/list_changed", "ID", ""))...)...))
		f.servers[1].inject(saying(tasksFilter("", ids[0], ids[1]), all("")...))
		f.servers[2].inject(saying(tasksFilter(`"toolsListChanged":true,`), notified("tasks", "ID", `"taskId":"`+ids[2]+`","status":"input_required"`)))
		s := f.subscribe("1", tasksFilter("", ids...))
		time.Sleep(time.Second)
		synctest.Wait()
		count := map[string]int{}
		for _, line := range s.told() {
			count[line]++
		}
		if count[ids[0]+" input_required"] != 2 || count[ids[1]+" input_required"] != 1 || len(count) != 2 {
			t.Errorf("told %v, want twice of the first, the second time at length, and once of the second", count)
		}
	})
}

// A server that goes on with a stream under another id, or refuses under one, has not
// agreed to anything.
func TestSubscriptionIsAcknowledgedUnderItsOwnID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{size: 1})
		f.servers[0].inject(onMethod("subscriptions/listen", streams(func(ctx context.Context, write func(string)) {
			for _, message := range []string{
				notified("subscriptions/acknowledged", "2", `"notifications":{"promptsListChanged":true}`),
				`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"x"}}`,
				`{"jsonrpc":"2.0","id":2,"result":{}}`,
				notified("subscriptions/acknowledged", "1.0", `"notifications":{"toolsListChanged":true}`),
				notified("tools/list_changed", "1.0", ""),
			} {
				write("data: " + message + "\n\n")
			}
			<-ctx.Done()
		})))
		s := f.subscribe("1", `{"toolsListChanged":true,"promptsListChanged":true}`)
		synctest.Wait()
		if got := s.agreed(); got != `{"toolsListChanged":true}` {
			t.Errorf("agreed to %s", got)
		}
		if got := s.heard(); len(got) != 2 || got[1].Method != "notifications/tools/list_changed" {
			t.Errorf("heard %v", got)
		}
	})
}
