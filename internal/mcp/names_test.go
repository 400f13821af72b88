package mcp

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/jsonobject"
)

// Names of all objects that are open lie on one stack: a repetition is found wherever they came to lie there.
func TestANameIsFoundAmongManyWhereverItStands(t *testing.T) {
	const most = 40
	var before strings.Builder
	for i := range most {
		inner := fmt.Sprintf(`%s"n%d":{"extensions":{"n0":1,"m":{}}}`, before.String(), i)
		for j := range i + 1 {
			body := request("ping", fmt.Sprintf(`"_meta":{%s,"n%d":1}`, inner, j))
			if _, _, refusal := peek([]byte(body), 1); refusal == nil {
				t.Fatalf("member %d of %d stands there twice, and is not refused", j, i+1)
			}
		}
		if _, _, refusal := peek([]byte(request("ping", `"_meta":{`+inner+`}`)), 1); refusal != nil {
			t.Fatalf("%d members: %v", i+1, refusal)
		}
		fmt.Fprintf(&before, `"n%d":1,`, i)
	}
}

// What is known by its name is noted by a bit, and not by that name.
func TestAKnownNameMayStandOnceOnly(t *testing.T) {
	var all jsonobject.Set
	for _, name := range []string{
		"jsonrpc", "id", "method", "params", "result", "error", "_meta", "name", "uri", "cursor", "requestState", "arguments", "notifications",
		"capabilities", MetaVersion, MetaCapabilities, MetaClientInfo, "progressToken", "traceparent", "tracestate", metaNewTask,
		metaRelatedTask, metaSubscription, "extensions", TasksExtension, "elicitation", "sampling", "roots", "code", "resultType",
		"nextCursor", "protocolVersion", "task", "taskId", "status", "statusMessage", "ttlMs", "ttl", "keepAlive",
	} {
		own := jsonobject.Set(memberNames.Of([]byte(name)))
		if own == 0 || all&own != 0 {
			t.Errorf("%s is %b, and %b are others", name, own, all)
		}
		all |= own
		for _, object := range []string{`%s`, `"_meta":{%s}`, `"_meta":{"` + MetaCapabilities + `":{%s}}`, `"_meta":{"` + MetaCapabilities + `":{"extensions":{%s}}}`} {
			for _, again := range []string{name, fmt.Sprintf(`\u%04x%s`, name[0], name[1:])} {
				once, twice := fmt.Sprintf(`"a":1,"%s":{}`, again), fmt.Sprintf(`"a":1,"%s":{},"b":2,"%s":{}`, name, again)
				if _, _, refusal := peek([]byte(request("ping", strings.Replace(object, "%s", once, 1))), 1); refusal != nil {
					t.Errorf("%s once in %s: %v", again, object, refusal)
				}
				if _, _, refusal := peek([]byte(request("ping", strings.Replace(object, "%s", twice, 1))), 1); refusal == nil || refusal.Reason != jsonobject.ReasonDuplicateKey {
					t.Errorf("%s twice in %s: %v", again, object, refusal)
				}
			}
		}
	}
	if memberNames.Of([]byte("other")) != 0 {
		t.Error("an unknown name is known")
	}
}
