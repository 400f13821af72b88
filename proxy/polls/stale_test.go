package polls

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/sticky"

	"pgregory.net/rapid"
)

// Whatever is told, of however many: no more is kept than may be, and what is said to be kept is what is. What was just told is told again,
// if it may be kept.
func TestWhatIsKeptOfTasksStaysWithinItsBounds(t *testing.T) {
	c := pollBy(t.Context(), "a")
	rapid.Check(t, func(t *rapid.T) {
		entry, total := 100, 2_000
		s := NewStaleCache(entry, total)
		key := func() *sticky.Key {
			return &sticky.Key{Kind: sticky.Task, Pool: "p", ID: rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "id")}
		}
		answer := func() *mcp.Answer {
			result := strings.Repeat("x", rapid.IntRange(0, 120).Draw(t, "length"))
			return &mcp.Answer{Result: []byte(result), Task: mcp.Task{Status: rapid.SampledFrom([]string{"working", "completed"}).Draw(t, "status")}}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "do") {
			case 0:
				s.Put(c, nil, key(), answer(), time.Now())
			case 1:
				task, a := key(), answer()
				s.PutNew(c, task, a)
				k := keyFor(c, task)
				got, _, known := s.get(&k)
				if want := len(a.Result) > 0 && len(a.Result) <= entry && len(a.Result)+staleOverhead <= total; known != want || known && got.result() != string(a.Result) {
					t.Fatalf("of %q is known: %v, %q, want %v", a.Result, known, got.result(), want)
				}
			case 2:
				s.PutResult(c, key(), answer(), time.Now())
			case 3:
				s.Drop(c, key())
			case 4:
				entry, total = rapid.IntRange(1, 120).Draw(t, "entry"), rapid.IntRange(1, 3_000).Draw(t, "total")
				s.SetBounds(entry, total)
			}
			sum := 0
			for _, task := range s.tasks.All() {
				sum += len(task.result()) + len(task.outcome()) + staleOverhead
			}
			if held := s.Held(); held != int64(sum) || sum > total {
				t.Fatalf("%d bytes are kept, said to be %d, want %d at most", sum, held, total)
			}
		}
	})
}

// A handle that has ended says nothing of the outcome: it is not told in the place of an owner that has that.
func TestAHandleStandsInForNoOutcome(t *testing.T) {
	for status, want := range map[string]bool{"working": true, "cancelled": true, "completed": false, "failed": false, "input_required": false} {
		s, c, key := NewStaleCache(0, 0), pollBy(t.Context(), "a"), numbered(1)
		s.Put(c, nil, key, &mcp.Answer{Result: []byte(`{"of":"another"}`)}, time.Now())
		s.PutNew(c, key, &mcp.Answer{Dialect: mcp.DialectExtension, Task: mcp.Task{ID: "1", Status: status}, Result: []byte(`{"status":"` + status + `"}`)})
		k := keyFor(c, key)
		if _, _, known := s.get(&k); known != want {
			t.Errorf("%s: kept %v", status, known)
		}
	}
}

// With less room the tasks stay that were told of last, in memory that has no room for the others. All is at one moment.
func TestLessRoomKeepsWhatWasToldLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := NewStaleCache(0, 0), pollBy(t.Context(), "a")
		var keys []staleKey
		for id := range strings.SplitSeq("abcdefghij", "") {
			task := sticky.Key{Kind: sticky.Task, Pool: "p", ID: id}
			s.Put(c, nil, &task, &mcp.Answer{Result: []byte(id)}, time.Now())
			keys = append(keys, keyFor(c, &task))
		}
		before := s.tasks
		s.SetBounds(0, 3*(staleOverhead+1))
		if s.tasks == before {
			t.Error("the memory is what it was")
		}
		for i := range keys {
			if got, _, known := s.get(&keys[i]); known != (i >= 7) || known && got.result() != keys[i].task.ID {
				t.Errorf("%s is known: %v, as %q", keys[i].task.ID, known, got.result())
			}
		}
	})
}

// A task that grows takes the room of others, even of those that were told of later at the same moment.
func TestATaskThatGrowsIsNotForgottenForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := NewStaleCache(0, 2*(staleOverhead+1)), pollBy(t.Context(), "a")
		grows, other := sticky.Key{Kind: sticky.Task, Pool: "p", ID: "a"}, sticky.Key{Kind: sticky.Task, Pool: "p", ID: "b"}
		s.Put(c, nil, &grows, &mcp.Answer{Result: []byte("x")}, time.Now())
		s.Put(c, nil, &other, &mcp.Answer{Result: []byte("y")}, time.Now())
		s.Put(c, nil, &grows, &mcp.Answer{Result: []byte("xx")}, time.Now())
		key, others := keyFor(c, &grows), keyFor(c, &other)
		if got, _, known := s.get(&key); !known || got.result() != "xx" {
			t.Errorf("of the one that grew is known: %v, %q", known, got.result())
		}
		if _, _, known := s.get(&others); known {
			t.Error("the other is kept beside it")
		}
	})
}

// A task is its own whatever part of the key is another, and wherever the parts meet.
func TestATaskIsOfOneKey(t *testing.T) {
	own := staleKey{sticky.Key{Kind: sticky.Task, Pool: "ab", Principal: "cd", ID: "ef"}, digest{1}}
	task := staleTask{credential: own.credential}
	task.keepResult(&own, []byte("ghi"))
	task.keepOutcome(&own, []byte("jkl"))
	if task.result() != "ghi" || task.outcome() != "jkl" || task.held() != 6 || !task.is(&own) {
		t.Errorf("got %+v", task)
	}
	for i := range 7 {
		other := own
		part := []*string{&other.task.Pool, &other.task.Principal, &other.task.ID}
		switch i {
		case 0, 1, 2:
			*part[i] += "x"
		case 3:
			other.task.Pool, other.task.Principal = "a", "bcd"
		case 4:
			other.task.Principal, other.task.ID = "cde", "f"
		case 5:
			other.task.ID = "efg"
		case 6:
			other.credential = digest{2}
		}
		if task.is(&other) {
			t.Errorf("it is one of %+v", other)
		}
	}
}

// What was told last is told again, be it as long as what was told before; but for an end, which stands.
func TestWhatWasToldLastIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := NewStaleCache(0, 0), pollBy(t.Context(), "a")
		task := sticky.Key{Kind: sticky.Task, Pool: "p", ID: "t"}
		key := keyFor(c, &task)
		for _, say := range []struct{ result, status, want string }{
			{"a1", "working", "a1"}, {"a2", "working", "a2"}, {"a2", "working", "a2"}, {"z1", "failed", "z1"}, {"a3", "working", "z1"}, {"z2", "failed", "z2"},
		} {
			time.Sleep(time.Second)
			s.Put(c, nil, &task, &mcp.Answer{Result: []byte(say.result), Task: mcp.Task{Status: say.status}}, time.Now())
			got, told, known := s.get(&key)
			if !known || got.result() != say.want || got.ended != (say.want[0] == 'z') || told.Equal(time.Now()) != (say.result == say.want) {
				t.Errorf("after %s: %v, %q, told %v ago", say.result, known, got.result(), time.Since(told))
			}
		}
	})
}

// A poll that tells nothing new leaves what is kept where it stands.
func TestAPollThatTellsNothingNewAllocatesNothing(t *testing.T) {
	s, c := NewStaleCache(0, 0), pollBy(t.Context(), "a")
	c.Principal = "p"
	task, now := sticky.Key{Kind: sticky.Task, Pool: "p", Principal: "p", ID: "t"}, time.Now()
	if got := testing.AllocsPerRun(100, func() {
		s.Put(c, nil, &task, &mcp.Answer{Result: []byte("a"), Task: mcp.Task{Status: "working"}}, now)
	}); got > 0 {
		t.Errorf("got %v allocations", got)
	}
}

// A task that grows takes the room of those that nobody polls any more.
func TestWhatIsPolledOutlivesWhatIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tasks, polled = 400, 40
		c := pollBy(t.Context(), "a")
		s := NewStaleCache(0, tasks*(staleOverhead+1)+1000)
		tell := func(i int, result string) {
			s.Put(c, nil, numbered(i), &mcp.Answer{Result: []byte(result), Task: mcp.Task{Status: "working"}}, time.Now())
		}
		for i := range tasks {
			tell(i, "w")
		}
		for i := range tasks - polled {
			tell(i, "w") // and not again
		}
		for range 10 {
			time.Sleep(10 * time.Second)
			for i := tasks - polled; i < tasks; i++ {
				tell(i, "w")
			}
		}
		tell(tasks-1, strings.Repeat("w", 40<<10))
		for i := tasks - polled; i < tasks; i++ {
			key := keyFor(c, numbered(i))
			if _, _, ok := s.get(&key); !ok {
				t.Fatalf("%d is forgotten", i)
			}
		}
	})
}

func numbered(i int) *sticky.Key {
	return &sticky.Key{Kind: sticky.Task, Pool: "p", ID: "task-" + strconv.Itoa(i)}
}
