package task

import (
	"errors"
	"testing"
	"time"
)

// Two operators may have a call made again at a time: the order that is stored second finds another claim than
// the one that it knew of.
func TestOneOrderToRerunCounts(t *testing.T) {
	failed := &Task{ID: "T", State: Failed, Terms: Terms{Rerun: true}, Updated: time.UnixMilli(5)}
	first, changed, err := Transition(failed, &Op{ID: "1", Kind: Rerun, Again: "A", At: time.UnixMilli(9)})
	if err != nil || !changed || first.Again.ID != "A" || first.State != Failed || first.Updated != failed.Updated {
		t.Fatalf("got %+v, %v, %v", first, changed, err)
	}
	if _, changed, err := Transition(first, &Op{ID: "2", Kind: Rerun, Again: "B", At: time.UnixMilli(9)}); changed || !errors.Is(err, ErrStale) {
		t.Errorf("the second order: changed %v, %v", changed, err)
	}
	if after, _, err := Transition(first, &Op{ID: "3", Kind: Rerun, Of: "A", Again: "B"}); err != nil || after.Again.ID != "B" {
		t.Errorf("an order that knows of the first: %+v, %v", after.Again, err)
	}
	for _, other := range []*Task{{ID: "T", State: Completed, Terms: Terms{Rerun: true}}, {ID: "T", State: Failed}, {ID: "T", State: Failed, Session: "s", Terms: Terms{Rerun: true}}} {
		if _, changed, err := Transition(other, &Op{ID: "1", Kind: Rerun, Again: "A"}); changed || err == nil {
			t.Errorf("%+v is made again", other)
		}
	}
}

// A berth that knows nothing of steps drops them with its own; what is left is told by the record.
func TestATimelineOfAnOlderBerthsRecord(t *testing.T) {
	made := time.UnixMilli(1_000).UTC()
	old := Task{ID: "T", State: Failed, Round: 1, Created: made, Updated: made.Add(time.Second)}
	told := old.Timeline()
	if len(told) != 2 || told[0].What != StepMade || !told[0].At.Equal(made) || told[1].What != StepEnded || told[1].Detail != "failed" || !told[1].At.Equal(old.Updated) {
		t.Errorf("got %+v", told)
	}
	if d, err := Decode([]byte(`{"v":1,"id":"T","state":"failed","steps":"made+0;sent+5k>a%3B;later+1z@b=x+y","news":1}`)); err != nil || len(d.Timeline()) != 4 || d.Timeline()[1].Upstream != "a;" {
		t.Errorf("of a newer berth: %+v, %v", d.Timeline(), err)
	}
}
