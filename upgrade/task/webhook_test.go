package task

import (
	"testing"
	"time"
)

// What receivers hear of is the status that the task's client is shown.
func TestNewsIsWhatClientsAreShown(t *testing.T) {
	for name, tt := range map[string]struct {
		task Task
		want News
	}{
		"runs":                           {Task{State: Dispatched}, ""},
		"completed":                      {Task{State: Completed}, NewsCompleted},
		"completed, and the tool failed": {Task{State: Completed, ToolFailed: true}, NewsCompleted},
		"the same, of 2025-11-25":        {Task{State: Completed, ToolFailed: true, Call: "berth-x"}, NewsFailed},
		"failed":                         {Task{State: Failed}, NewsFailed},
		"cancelled":                      {Task{State: Cancelled}, NewsCancelled},
		"asks":                           {Task{State: InputRequired, Asks: []Ask{{Key: "a"}}}, NewsAsked},
		"asks in mid-call":               {Task{State: Dispatched, Call: "berth-x", Asks: []Ask{{Key: "1"}}}, NewsAsked},
		"asks no more":                   {Task{State: InputRequired, Asks: []Ask{{Key: "a", Answer: []byte("1")}}}, ""},
	} {
		if got := tt.task.News(); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// Whichever step ends a task, its receiver has one message of that; what another step made of it decides
// whether the receiver hears.
func TestAMessageIsOneForAllStepsThatEndATask(t *testing.T) {
	before := Task{ID: "T1", State: Dispatched, Round: 1, Holder: "h", Created: time.Unix(1, 0), Terms: Terms{Webhooks: []Webhook{
		{Name: "all", Events: []News{NewsCompleted, NewsFailed, NewsCancelled}}, {Name: "bad", Events: []News{NewsFailed}}, {Name: "asks", Events: []News{NewsAsked}},
	}}}
	told := map[Message]int{}
	for _, op := range []Op{
		{ID: "1", Kind: Finish, End: Completed, Holder: "h", Round: 1}, {ID: "2", Kind: Cancel}, {ID: "3", Kind: Orphan, Of: "h"},
		{ID: "4", Kind: Progress, Message: "said", Holder: "h", Round: 1}, {ID: "5", Kind: Leave, Holder: "h"},
	} {
		after, _, _ := Transition(&before, &op)
		for _, m := range after.Messages(&before) {
			told[m]++
		}
	}
	all, bad := Message{"all", "T1", "end"}, Message{"bad", "T1", "end"}
	if len(told) != 2 || told[all] != 3 || told[bad] != 1 {
		t.Errorf("got %v", told)
	}
	completed := before
	completed.State = Completed
	if news, wanted := bad.Standing(&completed); news != NewsCompleted || wanted {
		t.Errorf("got %q, wanted %v: the step that failed it was not the first", news, wanted)
	}
	if m, ok := ParseMember("all", all.Member()); !ok || m != all {
		t.Errorf("%q reads as %v", all.Member(), m)
	}
	if all.ID() == bad.ID() || all.TriesKey() == bad.TriesKey() {
		t.Error("two receivers' messages have one name")
	}
}
