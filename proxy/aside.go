package proxy

import (
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/reply"
)

// aside is a session's stream that stands aside of the goroutine that began it. Thousands do, silent for hours: while
// nothing comes, each is a timer, and nobody waits. Where the upstream's side cannot be awaited so, a goroutine waits with a fresh stack:
// that of one that has relayed is deep.
type aside struct {
	*stream
	end     func(whole bool)      // tells the client's connection
	why     atomic.Pointer[error] // it is to end; nil: it is not
	over    atomic.Bool           // it has ended
	silence *time.Timer
	awaken  func() // wake, kept since making it allocates

	client sync.Mutex // held by who is with the client, and guards the field below
	said   time.Time  // when the client was sent something
}

// standAside has the stream that was begun relayed by others, who finish the request. It reports false where that cannot be:
// the client cannot be held, or berth has something of its own to say.
func (x *request) standAside() bool {
	client, ok := x.out.Client.(wire.Holder)
	if !ok || x.standing.news != nil {
		return false
	}
	a := &aside{stream: x.standing, said: time.Now(), end: client.Hold()}
	a.unburden()
	a.begin()
	return true
}

// unburden lets go of memory that only the beginning of the stream has needed.
func (a *aside) unburden() {
	x, way, u := a.x, a.x.Way(), a.u
	outbound.Unburden(a.body, func() *exchange.Request {
		return way.Request(u, wire.MethodGet, way.URL(u), nil)
	})
	reader := *a.reader // it lies in the memory
	a.reader, x.memory = &reader, nil
}

func (a *aside) begin() {
	a.silence = time.AfterFunc(time.Hour, a.keepAlive)
	a.stay = func() {}
	if a.mayLeave() {
		a.stay = a.onLeaving(func() { go a.stop(nil) }) // its client comes back, and takes the session along
	}
	a.stands.EndBy(func() { a.stop(nil) })
	a.silence.Reset(a.x.out.KeepAlive())
	a.awaken = a.wake
	a.rest()
}

// rest has the stream go on once there is something to relay.
func (a *aside) rest() {
	if !a.reader.Await(a.awaken) {
		go a.wait()
	}
}

// wait waits for something to relay.
func (a *aside) wait() {
	a.reader.Wait()
	a.wake()
}

// wake relays what has come, and has the next be waited for.
func (a *aside) wake() {
	goesOn := false
	defer func() {
		if !goesOn {
			a.finish(recover())
		}
	}()
	if goesOn = a.relayNext(); goesOn {
		a.rest()
	}
}

// relayNext relays an event, and those that came with it. It reports whether the stream goes on.
func (a *aside) relayNext() bool {
	var next arrival
	next.piece, next.err = a.reader.Next()
	a.client.Lock()
	defer a.client.Unlock()
	if a.why.Load() != nil {
		return false
	}
	done, err := a.takeAll(&next)
	if !done && a.gone || err != nil && a.x.Ctx.Err() != nil { // what broke off may have done so because of the client
		done, err = true, fault.ErrClientGone
	}
	if done {
		why := err // not err itself, which would be an allocation each time
		a.why.Store(&why)
	}
	a.said = time.Now()
	return !done
}

// keepAlive sends a comment if the stream has been silent for long, and comes back when it may have been.
func (a *aside) keepAlive() {
	if a.over.Load() {
		return
	}
	left := a.x.out.KeepAlive()
	if a.client.TryLock() { // else the client is being sent something
		left = a.sayNothing()
		a.client.Unlock()
	}
	a.silence.Reset(left)
}

// sayNothing sends the client a comment if that is due, and returns when it may be next.
func (a *aside) sayNothing() time.Duration {
	now, interval := time.Now(), a.x.out.KeepAlive()
	if left := interval - now.Sub(a.said); left > 0 {
		return left
	}
	if a.between {
		a.release(reply.Comment)
	}
	if a.said = now; a.gone {
		a.stop(fault.ErrClientGone)
	}
	return interval
}

// stop ends the stream from without: whoever waits for the upstream is woken by that.
func (a *aside) stop(why error) {
	if a.why.CompareAndSwap(nil, &why) {
		_ = a.body.Close()
	}
}

// finish ends stream and request. caught is what the goroutine has panicked with; nil: it has not.
func (a *aside) finish(caught any) {
	a.over.Store(true)
	a.client.Lock() // for good
	a.silence.Stop()
	x := a.x
	defer func() {
		x.p.end.serving.Add(-1)
		x.over()
		a.end(!x.aborted)
	}()
	defer func() {
		if later := recover(); later != nil {
			caught = later
		}
		x.finish(caught)
	}()
	a.stream.end()
	if why := a.why.Load(); why != nil && *why != nil {
		x.fail(*why)
	}
}
