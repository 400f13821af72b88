package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade"
)

// A standing stream tells how the tasks stand that were made in its session, from any
// berth, between the events of its upstream.
func TestStandingStreamTellsOfTasks(t *testing.T) {
	f, g, _ := newSessionPair(t)
	s := g.stand(f.session)
	id := f.errand(`"seconds":0.3,"asks":["elicitation"]`)
	ask := f.asks(id, 1)[0]
	f.eventually("input_required told", func() bool {
		told, _ := s.statuses()
		return slices.Contains(told, "input_required")
	})
	f.respond(f.session, ask, `"result":{}`)
	f.reaches(id, "completed")
	f.eventually("the end told", func() bool {
		told, _ := s.statuses()
		return slices.Contains(told, "completed")
	})
	told, withID := s.statuses()
	told = slices.Compact(told) // progress is told as well
	if want := []string{"input_required", "working", "completed"}; !slices.Equal(told[slices.Index(told, "input_required"):], want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if withID != 0 {
		t.Errorf("%d events of berth's own bear an id", withID)
	}
	if first := s.heard()[0]; !strings.Contains(first, "stream open on a") {
		t.Errorf("first came %q, want the upstream's own", first)
	}
}

// Each message goes to one stream of a session (2025-11-25, transports, "Multiple
// Connections").
func TestStatusIsToldOnOneStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionRig(t, rigOptions{})
		one, two := f.stand(f.session), f.stand(f.session)
		id := f.errand(`"seconds":5`)
		f.reaches(id, "completed")
		synctest.Wait()
		first, _ := one.statuses()
		second, _ := two.statuses()
		ends := slices.DeleteFunc(slices.Concat(first, second), func(status string) bool { return status == "working" })
		if !slices.Equal(ends, []string{"completed"}) {
			t.Errorf("told %v and %v, want completed once", first, second)
		}
	})
}

// Who comes later is told of what waits for it, and not of what is over.
func TestStreamBeginsWithWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionRig(t, rigOptions{})
		f.reaches(f.errand(`"seconds":0`), "completed")
		id := f.errand(`"seconds":3600,"steps":1,"asks":["elicitation"]`)
		f.errand(`"seconds":3600`)
		f.asks(id, 1)
		s := f.stand(f.session)
		synctest.Wait()
		told, _ := s.statuses()
		told = slices.DeleteFunc(told, func(status string) bool { return status == "working" })
		if !slices.Equal(told, []string{"input_required"}) {
			t.Errorf("told %v, want input_required of one", told)
		}
	})
}

// Another session's stream hears nothing.
func TestStreamOfAnotherSessionIsToldNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionRig(t, rigOptions{})
		s := f.stand(f.initialize())
		f.reaches(f.errand(`"seconds":1`), "completed")
		synctest.Wait()
		if told, _ := s.statuses(); len(told) != 0 {
			t.Errorf("told %v of another session's task", told)
		}
	})
}

// What berth tells does not stand in the middle of an event of the upstream's.
func TestStatusIsToldBetweenEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionRig(t, rigOptions{})
		half, rest := strings.Repeat("x", 300<<10), make(chan struct{})
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if r.Method != http.MethodGet {
				return false
			}
			w.Header().Set("Content-Type", eventsType)
			for _, part := range []string{"data: first\n\n", "data: " + half} {
				_, _ = w.Write([]byte(part))
				_ = http.NewResponseController(w).Flush()
			}
			<-rest
			_, _ = w.Write([]byte("\n\n"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return true
		})
		s := f.stand(f.session)
		synctest.Wait() // the second has begun
		f.reaches(f.errand(`"seconds":1`), "completed")
		synctest.Wait()
		if n := len(s.heard()); n != 1 {
			t.Errorf("got %d events before the second was whole, want 1", n)
		}
		close(rest)
		synctest.Wait()
		heard := s.heard()
		if len(heard) < 3 || heard[1] != "data: "+half {
			t.Fatalf("got %d events, the second of %d bytes, want it whole", len(heard), len(heard[1]))
		}
		if told, _ := s.statuses(); len(told) == 0 || told[len(told)-1] != "completed" {
			t.Errorf("told %v, want completed", told)
		}
	})
}

// Looks alone tell nothing: neither of a task that stands still, nor of one that has ended
// and that the session still lists.
func TestStatusIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSessionRig(t, rigOptions{})
		s := f.stand(f.session)
		f.asks(f.errand(`"seconds":3600,"steps":1,"asks":["elicitation"]`), 1)
		ended := f.errand(`"seconds":0`)
		f.reaches(ended, "completed")
		time.Sleep(time.Minute)
		list := "upgrade:session:{" + upgrade.SessionKey("p", "", f.session) + "}"
		if err := f.store.AddMember(t.Context(), list, ended, time.Hour, 0); err != nil {
			t.Fatal(err)
		}
		before, _ := s.statuses()
		time.Sleep(time.Minute)
		after, _ := s.statuses()
		count := map[string]int{}
		for _, status := range after {
			count[status]++
		}
		if count["input_required"] != 1 || count["completed"] > 2 {
			t.Errorf("told %v, want each once", after)
		}
		if len(after) > len(before)+1 {
			t.Errorf("told %v, and within a minute %v", before, after)
		}
	})
}

// A tool that says nothing until it has ended, soon, is told of as any other: the session is
// looked at when a task is made in it.
func TestStandingStreamTellsOfATaskThatIsSoonOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		s := f.stand(session)
		synctest.Wait()
		_, call := f.made(session)
		time.Sleep(2 * time.Second)
		call.ends(`"result":{}`)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if told, _ := s.statuses(); !slices.Equal(told, []string{"completed"}) {
			t.Errorf("told %v, want completed", told)
		}
	})
}
