package upgrade

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// answerOf is a client's answer of so many MiB.
func answerOf(mib int, c string) string { return `{"c":"` + strings.Repeat(c, mib<<20) + `"}` }

// recordOf is a task's record, as it stands in the store.
func recordOf(t *testing.T, store storage.Engine, id string) (size int, of *task.Task) {
	t.Helper()
	record, err := store.Get(t.Context(), ledger.TaskKey(id))
	if err != nil {
		t.Fatal(err)
	}
	of, err = task.Decode(record.Value)
	if err != nil {
		t.Fatal(err)
	}
	return len(record.Value), of
}

// However long the answers are, and the requestState: each poll reads the record, and each step writes it.
func TestARecordStaysSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newCell(memory(t))
		up := newTool()
		berths := startBerths(t, 2, settings{at: at, keys: seal.NewStoredKeyring(at.Load())}, up)
		id := berths[0].hand(t, rule(nil), "call state:3000 ask:a,b,c result")
		synctest.Wait()
		var beside []task.Aside
		small := func() {
			t.Helper()
			size, of := recordOf(t, at.Load(), id)
			if size > 16<<10 {
				t.Errorf("the record has %d bytes", size)
			}
			beside = append(beside, of.Asides()...)
		}
		give := func(b *berth, key, answer string) {
			t.Helper()
			if err := b.Steps.Update(t.Context(), id, somebody, inputs(key, answer), &Envelope{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		small()
		give(berths[1], "k", answerOf(2, "k"))
		berths[0].mustState(t, id, InputRequired)
		give(berths[0], "a", answerOf(3, "a"))
		small()
		give(berths[1], "b", answerOf(3, "b"))
		small()
		v := berths[0].see(t, id)
		if asked := string(v.Inputs); strings.Contains(asked, `"a"`) || !strings.Contains(asked, `"c"`) {
			t.Errorf("it asks %.200s", asked)
		}
		if told, err := berths[0].Overview.Payloads(t.Context(), &v.Task); err != nil || !strings.Contains(string(told.Asks), answerOf(3, "a")) {
			t.Errorf("operators are told %d bytes (%v)", len(told.Asks), err)
		}
		give(berths[0], "c", `{}`)
		berths[1].mustState(t, id, Completed)
		if sent := up.sent(1).body; !strings.Contains(sent, answerOf(2, "k")) || !strings.Contains(sent, strings.Repeat("0", 3000<<10-1)+"1") {
			t.Errorf("the second round has %d bytes", len(sent))
		}
		if sent := up.sent(2).body; !strings.Contains(sent, answerOf(3, "a")) || !strings.Contains(sent, answerOf(3, "b")) {
			t.Errorf("the third round has %d bytes", len(sent))
		}
		if len(beside) != 4 {
			t.Errorf("%d values stood beside it: %v", len(beside), beside)
		}
		for _, of := range beside {
			if _, err := storage.GetBlob(t.Context(), at.Load(), fmt.Sprintf("upgrade:{%s}:in:%s", id, of.Name)); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("%v is left (%v)", of, err)
			}
		}
	})
}

// What answers one round goes upstream in one request.
func TestAnswersThatAreTooLongTogetherAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		id := b.hand(t, rule(nil), "call ask:a,b result")
		synctest.Wait()
		if err := b.Steps.Update(t.Context(), id, somebody, inputs("a", answerOf(task.MaxAnswerBytes>>20, "a")), &Envelope{}); err != nil {
			t.Fatalf("one alone: %v", err)
		}
		err := b.Steps.Update(t.Context(), id, somebody, inputs("b", answerOf(1, "b")), &Envelope{})
		if refused, ok := errors.AsType[*mcp.Error](err); !ok || refused.Status != wire.StatusRequestEntityTooLarge || refused.Code != mcp.CodeInvalidRequest {
			t.Errorf("got %v, want 413", err)
		}
		b.mustState(t, id, InputRequired)
		if _, err := b.Steps.Cancel(t.Context(), id, somebody); err != nil {
			t.Error(err)
		}
	})
}

// An answer that was not kept is not given: its client repeats it, and berth does not.
func TestAnAnswerThatIsNotKeptIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		id := b.hand(t, rule(nil), "call ask:a result")
		synctest.Wait()
		writes := 0
		b.line.muteOne(func() bool { writes++; return writes == 3 }) // behind what lists the task: a piece of the answer
		answer := inputs("a", answerOf(1, "a"))
		if err := b.Steps.Update(t.Context(), id, somebody, answer, &Envelope{}); !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, ledger.ErrUntaken) {
			t.Fatalf("got %v, want that it was not taken", err)
		}
		if all := b.Steps.ledger.Pending.All(); len(all) > 0 {
			t.Errorf("%v is to be repeated", all)
		}
		if err := b.Steps.Update(t.Context(), id, somebody, answer, &Envelope{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b.mustState(t, id, Completed)
	})
}

func TestATaskThatAsksTooMuchFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		id := b.hand(t, rule(nil), fmt.Sprintf("call wordy:%d", task.MaxAskBytes>>10))
		synctest.Wait()
		b.mustState(t, id, Failed)
		if f := b.see(t, id).failure(t); f.Data.Reason != mcp.ReasonResultTooLarge {
			t.Errorf("got %+v", f)
		}
	})
}
