package upgrade

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp/inquiry"
	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/upgrade/task"

	"pgregory.net/rapid"
)

// act is one thing that happens to a deployment: a client's request, or a fault.
type act struct {
	What  string
	Berth int           // which, modulo how many there are
	Task  int           // which, modulo how many there are
	N     int           // of what there are several
	Wait  time.Duration // before it
}

func (a act) String() string {
	return fmt.Sprintf("%v %s berth %d task %d n %d", a.Wait, a.What, a.Berth, a.Task, a.N)
}

// requests are drawn more often than faults; doomed ones meet one on their way.
var (
	requests = []string{"create", "create", "create", "poll", "poll", "answer", "answer", "cancel"}
	doomed   = []string{"create dying", "create dying", "answer dying", "answer unheard", "create unheard", "cancel dying"}
	faults   = []string{"kill", "crash", "freeze", "thaw", "cut", "mend", "mute", "drain"}
)

// lives are what the tools of a world do, by round.
var lives = []string{
	"result", "result/2s", "result/8s", "error/1s", "break/1s", "end", "hang", "unsent",
	"ask:k,l result/1s", "ask:k/1s ask:k,l result/4s", "bare bare result/1s", "ask:k bare/1s result", "say:1,2,3/500ms", "ask:k hang",
}

// world is a deployment under a script: berths on one store, clients, and what they saw.
type world struct {
	settings settings
	flush    func() // empties the store; nil: it is not
	tool     *tool
	old      *oldTool // what calls go to; nil: tool
	pace     int      // how much faster than the script; 0: as it says, in fake time
	wrong    noted
	waiting  sync.WaitGroup // for clients and for the burial of the dead

	mu     sync.Mutex // guards the fields below
	berths []*berth
	tasks  []*known
	names  int
	lost   int // beginnings and ends of flushes so far

	sessions []*oldSession // that are open, of old
	all      []*oldSession // that ever were
}

// known is what clients know of a task.
type known struct {
	id, call string
	session  *oldSession // that its call lives in; nil: none
	noted    bool        // it was durable that a client has it, before one had

	mu        sync.Mutex // guards the fields below
	rerun     bool       // it may run twice
	late      bool       // its session may have been over before, or nobody knows what was given up
	ended     string     // state and outcome, once a client has seen them
	cancelled bool       // acknowledged
	answered  []string   // keys whose answers were acknowledged
	asked     []string   // keys that were seen
	lost      int        // world.lost before it was made
	safe      bool       // its stream could be resumed
}

// TestWorldInMemory runs scripts on berths that share a store in memory, in fake time.
func TestWorldInMemory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		script := drawScript(rt, append(slices.Concat(requests, requests, doomed, faults), "flush"))
		var wrong []string
		synctest.Test(t, func(t *testing.T) {
			store := openStore(t, "memory:", storage.Options{})
			defer store.Close()
			at := newCell(store)
			w := &world{tool: newTool("u", "v"), settings: settings{at: at, shared: true, keys: givenKeys(t)}}
			w.flush = func() {
				fresh := openStore(t, "memory:", storage.Options{})
				t.Cleanup(func() { _ = fresh.Close() })
				at.Store(fresh)
			}
			w.play(script)
			wrong = w.wrong.all()
		})
		if len(wrong) > 0 {
			rt.Fatalf("%s\nscript:\n%s", strings.Join(wrong, "\n"), lines(script))
		}
	})
}

func lines(script []act) string {
	var b strings.Builder
	for _, a := range script {
		fmt.Fprintln(&b, a)
	}
	return b.String()
}

func drawScript(t *rapid.T, what []string) []act {
	step := rapid.Custom(func(t *rapid.T) act {
		return act{
			What:  rapid.SampledFrom(what).Draw(t, "what"),
			Berth: rapid.IntRange(0, 4).Draw(t, "berth"), Task: rapid.IntRange(0, 5).Draw(t, "task"), N: rapid.IntRange(0, 40).Draw(t, "n"),
			Wait: time.Duration(rapid.SampledFrom([]int{0, 0, 10, 300, 1500, 6000}).Draw(t, "wait")) * time.Millisecond,
		}
	})
	return rapid.SliceOfN(step, 1, 40).Draw(t, "script")
}

// play runs a script, heals all that it broke, waits until nothing moves any more, and
// checks what is left.
func (w *world) play(script []act) {
	for range 3 {
		w.begin()
	}
	for _, a := range script {
		w.pause(a.Wait)
		w.do(a)
	}
	w.heal()
	left := w.settle()
	w.waiting.Wait()
	for _, wrong := range left {
		w.wrong.add("%s", wrong)
	}
	for _, b := range w.living() {
		b.Drain(context.Background())
		b.stop()
	}
}

// pause waits as long as the script says, at the world's pace.
func (w *world) pause(d time.Duration) { <-time.After(d / time.Duration(max(w.pace, 1))) }

// settle waits until nothing moves any more, and returns what is wrong then.
func (w *world) settle() []string {
	if w.pace == 0 {
		for i := range 16 {
			w.follow()
			w.pollAt(i)
			time.Sleep(oldTimeout / 12)
			if i >= 3 && w.isOver() { // whatever was left to a berth is taken up within seconds
				break
			}
		}
		return w.check()
	}
	// Liveness alone: far above what it takes.
	for end := time.Now().Add(realtest.Within); ; <-time.After(100 * time.Millisecond) {
		w.follow()
		if left := w.check(); len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// isOver reports whether all is as it should be, and stays so: clients of a server that holds sessions answer, and a call that
// waits for one may be given up still.
func (w *world) isOver() bool {
	b := w.living()[0]
	return len(w.check()) == 0 && (w.old == nil || !slices.ContainsFunc(w.made(), func(k *known) bool {
		v, err := b.Reader.Get(context.Background(), k.id, somebody)
		return err == nil && !v.State.Terminal()
	}))
}

// pollAt has each client poll its task once, at one of the berths.
func (w *world) pollAt(berth int) {
	living := w.living()
	for _, k := range w.made() {
		w.ask(living[berth%len(living)], k, act{What: "poll"})
	}
}

// begin starts one more berth.
func (w *world) begin() {
	b := newBerth(w.settings, w.tool)
	b.line.atOnce = len(w.living())%2 == 0
	b.line.lasts = w.old != nil // what can be resumed outlives a drain
	b.line.lease = b.ledger.Epoch.Life
	b.line.lapsed = func() { w.tool.excuse(b) }
	b.line.died = func() {
		w.tool.excuse(b)
		w.waiting.Go(b.clear)
	}
	w.mu.Lock()
	w.berths = append(w.berths, b)
	w.mu.Unlock()
	b.run()
}

// living are the berths that were not killed; there is always one.
func (w *world) living() []*berth {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.berths), func(b *berth) bool { return b.line.isDead() })
}

func (w *world) do(a act) {
	living := w.living()
	if len(living) < 3 {
		w.begin()
		living = w.living()
	}
	b := living[a.Berth%len(living)]
	w.mu.Lock()
	var k *known
	if len(w.tasks) > 0 {
		k = w.tasks[a.Task%len(w.tasks)]
	}
	w.mu.Unlock()
	what, fate, _ := strings.Cut(a.What, " ")
	a.What = what
	switch fate {
	case "dying":
		b.line.burn(1+a.N%16, a.N/16%2 == 0)
	case "unheard":
		b.line.mutes(1 + a.N%3)
	}
	switch a.What {
	case "create":
		w.waiting.Go(func() { w.create(b, a.N) })
	case "end":
		w.waiting.Go(func() { w.end(b, a.N) })
	case "reply":
		if k != nil {
			w.waiting.Go(func() { w.reply(b, k, a.N) })
		}
	case "poll", "answer", "cancel":
		if k != nil {
			w.waiting.Go(func() { w.ask(b, k, a) })
		}
	default:
		w.fault(b, a)
	}
}

func (w *world) fault(b *berth, a act) {
	switch a.What {
	case "kill":
		b.line.die()
		b.line.tell()
	case "crash":
		b.line.burn(1+a.N/2, a.N%2 == 0)
	case "freeze":
		w.tool.excuse(b)
		b.line.freeze()
	case "thaw":
		b.line.thaw()
	case "cut":
		w.tool.excuse(b)
		b.line.cut()
	case "mend":
		b.line.mend()
	case "mute":
		b.line.mutes(1 + a.N%4)
	case "drain":
		w.waiting.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(a.N)*100*time.Millisecond)
			defer cancel()
			if a.N%4 > 0 {
				go b.HandOver(ctx)
			}
			b.Drain(ctx)
			b.line.die()
			b.line.tell()
		})
	case "flush":
		w.loses() // what is made from now on may be lost
		w.excuseCutOff()
		w.tool.excuse(nil)
		w.flush()
		w.loses()
	}
}

// loses notes that a flush has begun, or is over.
func (w *world) loses() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost++
}

// excuseCutOff has the tasks run twice that a berth holds which cannot reach the store: it
// is the one window that doc.go admits. Others may have gone on with them, and what shows
// that is lost.
func (w *world) excuseCutOff() {
	for _, b := range w.living() {
		if b.line.Health().Healthy {
			continue
		}
		for _, k := range w.made() {
			k.excuse(b.runner.Calls.Get(k.id) != nil)
		}
	}
}

func (k *known) excuse(held bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rerun, k.late = k.rerun || held, k.late || held
}

// made are the tasks that clients were told of.
func (w *world) made() []*known {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.tasks)
}

func (w *world) heal() {
	for _, b := range w.living() {
		b.line.burn(0, false)
		b.line.mutes(0)
		b.line.thaw()
		b.line.mend()
	}
	w.begin()
}

func (w *world) create(b *berth, n int) {
	if w.old != nil {
		w.createOld(b, n)
		return
	}
	w.mu.Lock()
	w.names++
	call := fmt.Sprint("call-", w.names)
	w.mu.Unlock()
	r := rule(func(r *Rule) {
		r.TTL, r.Timeout, r.LivePerPrincipal = time.Hour, 20*time.Second/time.Duration(max(w.pace, 1)), 100
		if n%3 == 0 {
			r.OnOrphan = task.OrphanRerun
		}
		if n%2 == 0 {
			r.Concurrency = 1
		}
	})
	if r.Concurrency > 0 {
		call += bounded
	}
	c := creation(r, call+" "+lives[n%len(lives)])
	if n%5 == 0 {
		c.Call.Envelope = Envelope{Bare: true}
	}
	c.AtOnce = n%4 > 0 // as it is started before its handle goes out
	flushes := w.flushes()
	h, err := b.Maker.Create(context.Background(), c)
	if err != nil {
		return
	}
	k := &known{id: h.Task().ID, call: call, rerun: r.OnOrphan == task.OrphanRerun, lost: flushes}
	h.Start(nil)
	w.handOut(b, h, k)
}

// handOut gives a task to its client, which gets nothing from a berth that is dead; unless
// that died of the step by which it hands the task out.
func (w *world) handOut(b *berth, h *Held, k *known) {
	_ = h.HandOut(func() error { // it fails as this does
		e, err := recordIn(w.settings.at.Load(), k.id)
		k.noted = err == nil && e.Handed
		w.mu.Lock()
		defer w.mu.Unlock()
		if k.noted || !b.line.isDead() {
			w.tasks = append(w.tasks, k)
		}
		return nil
	})
	h.Handed()
}

// ask sends a client's request about a task and compares what comes with what clients
// knew when it was sent.
func (w *world) ask(b *berth, k *known, a act) {
	before, flushes := k.snapshot(), w.flushes()
	switch a.What {
	case "poll":
		v, err := b.Reader.Get(context.Background(), k.id, somebody)
		w.compare(b, k, &before, v, err, flushes)
	case "answer":
		k.mu.Lock()
		keys := slices.Clone(k.asked)
		k.mu.Unlock()
		var answers []inquiry.Input
		for i, key := range append(keys, "unknown") {
			if a.N>>i&1 == 0 {
				answers = append(answers, inquiry.Input{Key: key, Value: fmt.Appendf(nil, "%d", a.N)})
			}
		}
		if err := b.Steps.Update(context.Background(), k.id, somebody, answers, &Envelope{}); err == nil {
			k.mu.Lock()
			for _, answer := range answers {
				k.answered = append(k.answered, answer.Key)
			}
			k.mu.Unlock()
		} else {
			w.notUnknown(k, err)
		}
	case "cancel":
		if _, err := b.Steps.Cancel(context.Background(), k.id, somebody); err == nil {
			k.mu.Lock()
			k.cancelled = true
			k.mu.Unlock()
		} else {
			w.notUnknown(k, err)
		}
	}
}
