package polls

import (
	"encoding/binary"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/sticky"
)

// Nobody is told of another's task because the two are kept at one place: the one that was told last is there.
func TestTasksAtOnePlaceAreToldApart(t *testing.T) {
	s := NewStaleCache(0, 0)
	one := staleKey{task: sticky.Key{Kind: sticky.Task, Pool: "p", ID: "1"}}
	other := staleKey{task: sticky.Key{Kind: sticky.Task, Pool: "p", ID: "2"}}
	binary.NativeEndian.PutUint64(other.credential[:], s.place(&one)^s.place(&other))
	if s.place(&one) != s.place(&other) {
		t.Fatal("they are at two places")
	}
	for _, key := range []*staleKey{&one, &other, &one} {
		task, before := s.begin(s.place(key), key, itself, time.Now())
		task.tell(&mcp.Answer{Result: []byte(`{"taskId":"` + key.task.ID + `"}`), Task: mcp.Task{ID: key.task.ID, Status: "working"}}, time.Now())
		s.end(s.place(key), task, before)
		for _, asked := range []*staleKey{&one, &other} {
			got, known := s.get(asked)
			if want := asked == key; known != want || want && got.task != key.task {
				t.Errorf("after %s: %s is known: %v, as %s", key.task.ID, asked.task.ID, known, got.task.ID)
			}
		}
		if held := s.Held(); held != int64(staleOverhead+len(`{"taskId":"1"}`)) {
			t.Errorf("%d bytes are held", held)
		}
	}
}

// Of tasks that do not all fit the one is forgotten that was told of before the others, however often they were in the last seconds.
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
		for range 2 * usedWithin {
			time.Sleep(time.Second)
			put("a")
			put("c")
		}
		put("d")
		for id, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
			k := keyFor(c, key(id))
			if _, known := s.get(&k); known != want {
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
