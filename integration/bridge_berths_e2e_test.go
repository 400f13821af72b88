//go:build e2e

package integration

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// bridgeBerths are berths with one store before a legacy site, which die and are replaced.
type bridgeBerths struct {
	site  *legacySite
	store string

	mu   sync.Mutex // guards the fields below
	live []*watched
	ends int // of berths
}

func startBridgeBerths(t testing.TB, r reach, n int) *bridgeBerths {
	t.Helper()
	b := &bridgeBerths{site: r.startLegacy(t, 3), store: sharedStore(t)}
	for range n {
		b.live = append(b.live, b.start(t))
	}
	return b
}

func (b *bridgeBerths) start(t testing.TB) *watched {
	t.Helper()
	return b.site.startWatched(t, fmt.Sprintf("drain = \"2s\"\n[store]\nurl = %q\nholder_lease = %q\n", b.store, holderLease))
}

// anyURL is that of any berth that lives.
func (b *bridgeBerths) anyURL() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.live[rand.IntN(len(b.live))].url()
}

// inTurn gives the URLs of all berths in turn.
func (b *bridgeBerths) inTurn() func() string {
	next := -1
	return func() string {
		next++
		return b.live[next%len(b.live)].url()
	}
}

// replace kills a berth, which clients find out by themselves, and starts another one.
func (b *bridgeBerths) replace(t testing.TB) {
	t.Helper()
	i := rand.IntN(len(b.live))
	b.live[i].kill()
	fresh := b.start(t)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live[i] = fresh
	b.ends++
}

// acrossBerths are the reaches whose calls several berths can go on with: a process on stdio
// is its berth's own.
var acrossBerths = []reach{overResumable, overPlain, overSSE}

// Each round of a call may reach another berth.
func TestBridgedRoundsReachDifferentBerths(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		const calls = 30
		b := startBridgeBerths(t, r, 2)
		client := newAskingClient(t)
		for i := range calls {
			nonce := fmt.Sprint("turn-", i)
			got, err := asksTwice(client, nonce).through(t, b.inTurn(), "red", "blue")
			if err != nil || got.said() != nonce+": red then blue" {
				t.Fatalf("got %v, %v, want both answers", got, err)
			}
			b.site.runs.wantOnce(t, nonce)
		}
	})
}

// A berth that dies between two rounds takes no call with it that can be resumed; of the others
// the client is told.
func TestBridgedCallOutlivesTheBerthThatBeganIt(t *testing.T) {
	t.Parallel()
	eachOf(t, acrossBerths, func(t *testing.T, r reach) {
		b := startBridgeBerths(t, r, 2)
		call := asksTwice(newAskingClient(t), "outlives")
		asked := call.begin(t, b.live[0].url())
		b.live[0].kill()
		got, err := call.answer(t, b.live[1].url(), asked, "red")
		switch {
		case r.resumes() && (err != nil || !got.asks()):
			t.Errorf("got %v, %v, want the second question", got, err)
		case r.resumes():
			if last := call.goOn(t, b.live[1].url(), got, "blue"); last.said() != "outlives: red then blue" {
				t.Errorf("got %v, want both answers", last)
			}
		default:
			got.wantRefused(t, "the answer to a lost call", err)
		}
		b.site.runs.wantOnce(t, "outlives")
	})
}

// bridgeChurn is calls that ask twice, through berths that die.
type bridgeChurn struct {
	*bridgeBerths
	client *askingClient

	mu                   sync.Mutex // guards the fields below
	right, lost, repeats int        // calls, calls, rounds
}

const (
	bridgeCalls     = 300
	bridgeChurnTime = 60 * time.Second
	berthLives      = 10 * time.Second
)

// run makes the calls, while a berth dies every now and then.
func (c *bridgeChurn) run(t testing.TB) {
	t.Helper()
	var clients sync.WaitGroup
	clients.Go(func() {
		next := time.NewTicker(bridgeChurnTime / bridgeCalls)
		defer next.Stop()
		for i := range bridgeCalls {
			clients.Go(func() { c.follow(t, fmt.Sprint("churn-", i)) })
			<-next.C
		}
	})
	death := time.NewTicker(berthLives)
	defer death.Stop()
	for end := time.Now().Add(bridgeChurnTime); time.Now().Before(end); {
		<-death.C
		c.replace(t)
	}
	clients.Wait()
	t.Logf("%d calls: %d right, %d told that they are lost; %d berths killed, %d rounds sent again", bridgeCalls, c.right, c.lost, c.ends, c.repeats)
}

// follow is one client: it begins a call, thinks before each answer, and sends again what no
// berth answered. What became of a first round whose answer was lost it cannot know: that is
// made anew, under another name.
func (c *bridgeChurn) follow(t testing.TB, name string) {
	var call askedCall
	var got round
	try := 0
	if !c.insist(t, func() (round, error) {
		try++
		call = asksTwice(c.client, fmt.Sprint(name, ".", try))
		return call.send(t, c.anyURL(), "", nil)
	}, &got) {
		return
	}
	for i := 0; got.asks() && i < maxRounds; i++ {
		<-time.After(rand.N(4 * time.Second))
		asked, answer := got, [2]string{"red", "blue"}[min(i, 1)]
		if !c.insist(t, func() (round, error) { return call.answer(t, c.anyURL(), asked, answer) }, &got) {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch want := fmt.Sprint(call.args["nonce"], ": red then blue"); {
	case got.said() == want:
		c.right++
	case got.Error != nil && got.said() == "":
		c.lost++
	default:
		t.Errorf("%s: got %v, want %q, or that it is lost", name, got, want)
	}
}

// insist sends a round until a berth answers it.
func (c *bridgeChurn) insist(t testing.TB, send func() (round, error), got *round) bool {
	t.Helper()
	var err error
	ok := await(t, endsWithin, func() bool {
		if *got, err = send(); err == nil && !got.mayComeAgain() {
			return true
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.repeats++
		return t.Failed()
	})
	if !ok || err != nil {
		t.Errorf("no berth answers: got %v, %v", *got, err)
	}
	return ok && err == nil
}

// Three berths, of which one dies every ten seconds: each tool runs once. Where streams resume
// each call comes to its end; where they do not, whoever loses one is told.
func TestBridgedCallsThatAskTwiceEndOnceWhateverBerthsDo(t *testing.T) {
	t.Parallel()
	eachOf(t, acrossBerths, func(t *testing.T, r reach) {
		c := &bridgeChurn{bridgeBerths: startBridgeBerths(t, r, 3), client: newAskingClient(t)}
		c.run(t)
		c.site.runs.wantNoneTwice(t)
		if c.right+c.lost != bridgeCalls || c.lost > bridgeCalls/2 {
			t.Errorf("calls that ended: got %d right and %d lost, want %d, and no more lost than die with their berths", c.right, c.lost, bridgeCalls)
		}
		if r.resumes() && c.lost > 0 {
			t.Errorf("calls lost: got %d, want none where streams resume", c.lost)
		}
	})
}
