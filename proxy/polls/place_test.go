package polls

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/sticky"
)

// Nobody is told of another's task because the two have one hash.
func TestTasksOfOneHashAreToldApart(t *testing.T) {
	s, now := NewStaleCache(0, 0), time.Now()
	one := staleKey{task: sticky.Key{Kind: sticky.Task, Pool: "p", ID: "1"}}
	other := staleKey{task: sticky.Key{Kind: sticky.Task, Pool: "p", ID: "2"}}
	hash := one.hash(hashOf(&one.task))
	binary.NativeEndian.PutUint64(other.credential[:], hashOf(&one.task)^hashOf(&other.task))
	if other.hash(hashOf(&other.task)) != hash {
		t.Fatal("they have two hashes")
	}
	for i, key := range []*staleKey{&one, &other, &one} {
		result := fmt.Sprintf(`{"taskId":%q,"told":%d}`, key.task.ID, i)
		at, before := s.begin(key, hash, now)
		s.tasks.At(at).tell(key, &mcp.Answer{Result: []byte(result), Task: mcp.Task{ID: key.task.ID, Status: "working"}}, s.moment(now))
		s.end(at, before)
		if got, _, known := s.get(key); !known || got.result() != result {
			t.Errorf("of %s is known: %v, %s, want %s", key.task.ID, known, got.result(), result)
		}
		if got, _, known := s.get(&other); known != (i > 0) || known && !strings.Contains(got.result(), `"2"`) {
			t.Errorf("after %s the other is known: %v, %s", key.task.ID, known, got.result())
		}
		if held := s.Held(); held != int64(min(i+1, 2)*(staleOverhead+len(result))) {
			t.Errorf("%d bytes are held", held)
		}
	}
}

// Of tasks that do not all fit the one is forgotten that was told of before the others.
func TestATaskThatIsToldOfIsForgottenLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := NewStaleCache(0, 3*(staleOverhead+len(`{"taskId":"a"}`))), pollBy(t.Context(), "a")
		key := func(id string) *sticky.Key { return &sticky.Key{Kind: sticky.Task, Pool: "p", ID: id} }
		put := func(id string) {
			s.Put(c, nil, key(id), &mcp.Answer{Result: []byte(`{"taskId":"` + id + `"}`), Task: mcp.Task{ID: id, Status: "working"}}, time.Now())
		}
		for _, id := range []string{"a", "b", "c"} {
			put(id)
		}
		for range 16 {
			time.Sleep(time.Second)
			put("a")
			put("c")
		}
		put("d")
		for id, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
			k := keyFor(c, key(id))
			if _, _, known := s.get(&k); known != want {
				t.Errorf("%s is known: %v, want %v", id, known, want)
			}
		}
	})
}

// Of more polls than there are chains each is found, and goes by itself.
func TestManyPollsAloneAreToldApart(t *testing.T) {
	s := NewShared(slog.New(slog.DiscardHandler))
	var polls []*Poll
	for i := range 3 * len(s.alone.chains) {
		p := &Poll{request: request{task: sticky.Key{Kind: sticky.Task, Pool: "p", ID: strconv.Itoa(i)}}}
		p.hash = hashOf(&p.task)
		if s.alone.of(&p.task, p.hash) != nil {
			t.Fatalf("%v is there already", p.task)
		}
		s.alone.add(p)
		polls = append(polls, p)
	}
	for i := range polls {
		p := polls[i*5%len(polls)] // in another order
		if s.alone.of(&p.task, p.hash) != p {
			t.Fatalf("%v is not found", p.task)
		}
		s.alone.remove(p)
		s.alone.remove(p)
		if s.alone.of(&p.task, p.hash) != nil {
			t.Fatalf("%v is still there", p.task)
		}
	}
	for p := range s.alone.all() {
		t.Errorf("%v is left", p.task)
	}
}
