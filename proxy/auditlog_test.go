package proxy_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/api"
	"berth/internal/auditlog"
	"berth/internal/journal"
	"berth/internal/realtest"
	"berth/internal/seal"
	"berth/proxy"
)

// deeds is an audit log that a test reads.
type deeds struct {
	lines
	journal *journal.Journal
	log     *auditlog.Log
}

func newDeeds(t *testing.T) *deeds {
	t.Helper()
	d := &deeds{}
	d.journal = journal.New(&d.lines)
	var err error
	if d.log, err = auditlog.Open(auditlog.Options{Where: auditlog.Stderr, Stderr: d.journal}); err != nil {
		t.Fatal(err)
	}
	return d
}

// to has a proxy write there.
func (d *deeds) to(o *proxy.Options) { o.AuditLog = d.log }

// took returns what was written, as "event task caller reason".
func (d *deeds) took(t *testing.T) (all []string) {
	t.Helper()
	d.journal.Flush()
	for _, line := range d.take(t) {
		if line["msg"] != "audit" || line["method"] == nil || line["pool"] == nil || line["client"] == nil {
			t.Errorf("a line lacks what each has: %v", line)
		}
		event := fmt.Sprint(line["event"], " ", line["task"], " ", line["caller"])
		if reason := line["reason"]; reason != nil {
			event += fmt.Sprint(" ", reason)
		}
		all = append(all, event)
	}
	return all
}

// Who made a task, was told, answered, cancelled and was refused is written down, once each: of a task of
// berth's own.
func TestDeedsToUpgradedTasksAreWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeeds(t)
		f := newGreeter(t, rigOptions{principals: true, options: d.to}, greetRule())
		alice, bob := seal.Digest("alice"), seal.Digest("bob")
		as := func(user string) []string { return []string{userHeader, user} }
		wants := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if got := d.took(t); !slices.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
		}
		id := f.greeting("ask", as("alice")...)
		wants("made " + id + " " + alice)
		f.modern("tasks/get", id, byID(id), as("alice")...)
		wants()
		f.modern("tasks/get", id, byID(id), as("bob")...)
		wants("refused " + id + " " + bob + " unknown task")
		f.modern("tasks/update", id, byID(id)+`,"inputResponses":{"q":{"action":"accept","content":{}}}`, as("alice")...)
		wants("answered " + id + " " + alice)
		time.Sleep(time.Minute)
		for range 3 {
			f.modern("tasks/get", id, byID(id), as("alice")...)
		}
		wants("told " + id + " " + alice)
		f.modern("tasks/cancel", id, byID(id), as("alice")...)
		wants() // it has ended, which is acknowledged
		other := f.greeting("1h", as("bob")...)
		f.modern("tasks/cancel", other, byID(other), as("alice")...)
		f.modern("tasks/cancel", other, byID(other), as("bob")...)
		f.modern("tasks/get", other, byID(other), as("bob")...)
		wants("made "+other+" "+bob, "refused "+other+" "+alice+" unknown task", "cancelled "+other+" "+bob)
	})
}

// A subscriber is told as well.
func TestSubscribersAreToldInTheAuditLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeeds(t)
		f := newGreeter(t, rigOptions{options: d.to}, greetRule())
		id := f.greeting("10s")
		f.subscribe("1", tasksFilter("", id))
		time.Sleep(time.Minute)
		synctest.Wait()
		f.modern("tasks/get", id, byID(id))
		synctest.Wait()
		if got, want := d.took(t), []string{"made " + id + " <nil>", "told " + id + " <nil>"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// The same of tasks that servers make.
func TestDeedsToServersTasksAreWrittenDown(t *testing.T) {
	d := newDeeds(t)
	b := start(t, setup{principals: true, options: d.to})
	alice := seal.Digest("alice")
	r := b.modern("tools/call", "slow_compute", `"name":"slow_compute","arguments":{"seconds":0,"label":"x"}`, userHeader, "alice")
	id := r.parsed().Result.TaskID
	var got []string
	has := func(n int) {
		t.Helper()
		realtest.Eventually(t, "deeds", func() bool { got = append(got, d.took(t)...); return len(got) >= n })
	}
	has(1)
	realtest.Eventually(t, "the result", func() bool {
		b.modern("tasks/get", id, byID(id), userHeader, "alice")
		got = append(got, d.took(t)...)
		return len(got) == 2
	})
	b.modern("tasks/get", id, byID(id), userHeader, "alice")
	other := b.makeTask(userHeader, "alice")
	has(3)
	b.modern("tasks/cancel", other, byID(other), userHeader, "alice")
	has(4)
	b.modern("tasks/get", "none", byID("none"), userHeader, "alice")
	has(5)
	want := []string{"made " + id + " " + alice, "told " + id + " " + alice, "made " + other + " " + alice, "cancelled " + other + " " + alice, "refused none " + alice + " unknown task"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// Where the call went that a server made a task of is found by the task's id.
func TestTheDecisionAboutACallNamesItsServersTask(t *testing.T) {
	last := new(proxy.Decisions)
	b := start(t, setup{options: func(o *proxy.Options) { o.Decisions = last }})
	id := b.makeTask()
	realtest.Eventually(t, "the decision", func() bool {
		return len(last.Last(proxy.DecisionsKept, func(d *api.Decision) bool { return d.Method == "tools/call" && d.ID == id })) == 1
	})
}

// An answer in a session is one to the task that asked.
func TestAnswersInSessionsAreWrittenDown(t *testing.T) {
	d := newDeeds(t)
	f := newSessionRig(t, rigOptions{options: d.to})
	id := f.errand(askOne)
	ask := f.asks(id, 1)[0]
	f.respond(f.session, ask, `"result":{"action":"accept"}`)
	var got []string
	realtest.Eventually(t, "the answer", func() bool { got = append(got, d.took(t)...); return len(got) >= 2 })
	if want := []string{"made " + id + " <nil>", "answered " + id + " <nil>"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Who makes the same call again is given the task that there is, and makes none.
func TestAHandleThatIsGivenAgainIsNoCreation(t *testing.T) {
	d := newDeeds(t)
	f := newUpgraded(t, rigOptions{options: d.to}, nil)
	f.answers(sayResult(done))
	id := f.made("Idempotency-Key", "k")
	if again := f.made("Idempotency-Key", "k"); again != id {
		t.Fatalf("got another task, %s", again)
	}
	var got []string
	realtest.Eventually(t, "the deed", func() bool { got = append(got, d.took(t)...); return len(got) >= 1 })
	f.reaches(id, "completed")
	realtest.Eventually(t, "the poll", func() bool { got = append(got, d.took(t)...); return len(got) >= 2 })
	if want := []string{"made " + id + " <nil>", "told " + id + " <nil>"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
