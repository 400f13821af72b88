package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"berth/upgrade"
)

const mib = 1 << 20

// largeResult is a result of some MiB, in two lines.
func largeResult(n int) string {
	return `{"resultType":"complete",` + "\n" + `"content":[{"type":"text","text":"` + strings.Repeat("r", n*mib) + `"}]}`
}

// unread opens an answer n times, and reads nothing but its header.
func (f *rig) unread(n int, request func() *http.Request) (leave func()) {
	f.t.Helper()
	var open []*http.Response
	leave = func() {
		for _, resp := range open {
			resp.Body.Close()
		}
	}
	f.t.Cleanup(leave)
	for range n {
		resp := f.open(request())
		if open = append(open, resp); resp.StatusCode != http.StatusOK {
			f.t.Fatalf("answered %d", resp.StatusCode)
		}
	}
	return leave
}

func (f *rig) unreadPolls(n int, id string, header ...string) (leave func()) {
	f.t.Helper()
	return f.unread(n, func() *http.Request { return f.modernRequest(f.t.Context(), "tasks/get", id, byID(id), header...) })
}

// A large result of which many clients read nothing is in memory once, by whatever way they
// are given it.
func TestResultThatIsNotReadIsInMemoryOnce(t *testing.T) {
	const readers, size = 16, 2
	result := largeResult(size)
	for name, open := range map[string]func(t *testing.T){
		"polls": func(t *testing.T) {
			f := newUpgraded(t, rigOptions{}, nil)
			f.answers(sayResult(result))
			id := f.made()
			synctest.Wait()
			f.unreadPolls(readers, id)
		},
		"subscriptions": func(t *testing.T) {
			f := newUpgraded(t, rigOptions{}, nil)
			ends := make(chan struct{})
			f.answers(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
				<-ends
				return sayResult(result)(w, r, body)
			})
			id := f.made()
			f.unread(readers, func() *http.Request {
				return f.modernRequest(t.Context(), "subscriptions/listen", "", `"notifications":`+tasksFilter("", id))
			})
			close(ends)
		},
		"tasks/result": func(t *testing.T) {
			f := newCoreRig(t, rigOptions{}, nil)
			session := f.initialize()
			id, call := f.made(session)
			f.unread(readers, func() *http.Request {
				return f.request(t.Context(), http.MethodPost, message("tasks/result", byID(id)), legacyHeader(session)...)
			})
			call.says <- `{"jsonrpc":"2.0","id":` + string(call.id) + `,"result":` + strings.ReplaceAll(result, "\n", "") + `}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := heap()
				open(t)
				synctest.Wait()
				// Beside that one copy, the store's.
				if most := before + 4*size*mib; heap() > most {
					t.Errorf("the heap grew by %d MiB for %d readers", (heap()-before)/mib, readers)
				}
			})
		})
	}
}

// A caller who reads nothing of large results is refused another one, whatever else he may do;
// other callers go on, and so does he when he has left.
func TestWhoDoesNotReadIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{principals: true, kept: upgrade.Bounds{Lent: 6 * mib, LentPerCaller: 3 * mib}}, nil)
		large := sayResult(largeResult(1))
		f.answers(large, large, large, large, sayResult(done))
		one, other := []string{userHeader, "alice"}, []string{userHeader, "bob"}
		first, second, third, foreign, little := f.made(one...), f.made(one...), f.made(one...), f.made(other...), f.made(one...)
		synctest.Wait()
		leave := f.unreadPolls(3, first, one...)
		f.unreadPolls(3, second, one...)
		f.poll(third, one...).fails(t, http.StatusTooManyRequests, -31429, "too_much_kept", true)
		if m := f.poll(third, other...).message(t); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("another caller is told %+v", m)
		}
		for id, who := range map[string][]string{first: one, foreign: other, little: one} {
			if v := f.look(id, who...); v.Status != "completed" {
				t.Errorf("another poll: %s", v.Status)
			}
		}
		leave()
		synctest.Wait()
		if v := f.look(third, one...); v.Status != "completed" {
			t.Errorf("with room again: %s", v.Status)
		}
	})
}

// Who waits for a result of which there is no room yet is given it when there is.
func TestWhoWaitsIsGivenHisResultWhenThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{kept: upgrade.Bounds{Lent: 3 * mib, LentPerCaller: 3 * mib / 2}}, nil)
		ends := make(chan struct{})
		f.answers(sayResult(largeResult(1)), func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			<-ends
			return sayResult(largeResult(1))(w, r, body)
		})
		first := f.made()
		synctest.Wait()
		second := f.made()
		leave := f.unreadPolls(1, first)
		listener := f.subscribe("1", tasksFilter("", second))
		close(ends)
		synctest.Wait()
		if told := listener.statuses(); len(told) != 0 {
			t.Errorf("told %q without room", told)
		}
		leave()
		f.eventually("the result", func() bool { return len(listener.statuses()) == 1 })
	})
}

// What a stream says of a large message in pieces is what it says of it in one.
func TestLargeEventsAreReadAsTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		lines := strings.ReplaceAll(largeResult(1), "\n", "\r\n\n \r")
		ends := make(chan struct{})
		f.answers(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			<-ends
			return sayResult(lines)(w, r, body)
		})
		id := f.made()
		listener := f.subscribe("1", tasksFilter("", id))
		close(ends)
		f.eventually("the result", func() bool { return len(listener.statuses()) == 1 })
		if got := listener.heard()[len(listener.heard())-1].raw; !strings.Contains(got, `"resultType":"complete",`) || !strings.HasSuffix(got, `"}]}}}`) || len(got) < mib {
			t.Errorf("heard %d bytes: %.300s", len(got), got)
		}
	})
}

// So are the asks of a task that waits for input, and those of a call in a session for which
// many wait.
func TestAsksThatAreNotReadAreInMemoryOnce(t *testing.T) {
	const readers, size = 16, 1
	question := `{"method":"elicitation/create","params":{"mode":"form","requestedSchema":{},"message":"` + strings.Repeat("?", size*mib) + `"}}`
	for name, open := range map[string]func(t *testing.T){
		"polls": func(t *testing.T) {
			f := newUpgraded(t, rigOptions{}, nil)
			f.answers(sayResult(`{"resultType":"input_required","inputRequests":{"q":` + question + `}}`))
			id := f.made()
			synctest.Wait()
			if v := f.look(id); v.Status != "input_required" || string(v.InputRequests["q"]) != question {
				t.Fatalf("%s, and asks %d bytes", v.Status, len(v.InputRequests["q"]))
			}
			f.unreadPolls(readers, id)
		},
		"tasks/result": func(t *testing.T) {
			f := newCoreRig(t, rigOptions{}, nil)
			session := f.initialize()
			id, call := f.made(session)
			call.says <- `{"jsonrpc":"2.0","id":7,` + question[1:]
			synctest.Wait()
			f.unread(readers, func() *http.Request {
				return f.request(t.Context(), http.MethodPost, message("tasks/result", byID(id)), legacyHeader(session)...)
			})
			synctest.Wait()
			if v := f.look(session, id); v.Status != "input_required" {
				t.Fatalf("%+v", v)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := heap()
				open(t)
				synctest.Wait()
				// The store's, the holder's, and those of the one who is told.
				if most := before + 8*size*mib; heap() > most {
					t.Errorf("the heap grew by %d MiB for %d readers", (heap()-before)/mib, readers)
				}
			})
		})
	}
}
