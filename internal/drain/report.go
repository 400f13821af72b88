package drain

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"berth/internal/storage"
	"berth/routing"
)

// report is what a berth says of the upstreams that it has.
type report struct {
	Format    int        `json:"v"`
	Upstreams []underWay `json:"upstreams"`
	Gone      bool       `json:"gone,omitempty"` // the berth has ended: what it says are calls that it has left to others
	drains    map[place]drains
}

// underWay is what one berth has under way at an upstream.
type underWay struct {
	Pool     string `json:"pool"`
	Upstream string `json:"up"`
	Requests int    `json:"requests,omitempty"`
	Streams  int    `json:"streams,omitempty"`
	Held     int    `json:"held,omitempty"`
	Unlisted int    `json:"unlisted,omitempty"` // bindings that the store has not counted
	// Since is the mark that the berth has gone by for a second at least; and File, that its own
	// configuration drains the upstream.
	Since time.Time `json:"since,omitzero"`
	File  bool      `json:"file,omitempty"`

	waiting int // of Held, those of which nothing is in flight
}

// drains is whether an upstream drains as its pool has it.
type drains struct {
	since time.Time
	file  bool
	at    time.Time // when that was first reported
}

// settleFor is how long a berth goes by a mark before it says so: what was picked a moment before is
// counted by then.
const settleFor = tellWhileGone / 2

const berthsList = "drain:berths"

func reportKey(berth string) string { return "drain:berth:" + berth }

// tell writes the report of this process.
func (w *Watch) tell(ctx context.Context) {
	if err := w.post(ctx, w.report()); err != nil && ctx.Err() == nil {
		w.log.Debug("what is under way here could not be reported", "error", err)
	}
}

func (w *Watch) post(ctx context.Context, r report) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return w.o.Store.Each(ctx, []storage.Write{{
		Key: reportKey(w.o.Name), Value: value, TTL: reportLife, Over: true,
		List: berthsList, Member: storage.Member{Name: w.o.Name, Left: reportLife},
	}})
}

// report takes stock.
func (w *Watch) report() report {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := report{Format: format, drains: map[place]drains{}}
	for _, pool := range w.o.Pools() {
		for _, u := range pool.Upstreams() {
			at := place{pool.Name(), u.Name}
			r.drains[at] = w.drains(at, u)
			r.Upstreams = append(r.Upstreams, w.underWay(at, u, r.drains[at]))
		}
	}
	w.told = r
	return r
}

// drains is how u drains, and since when this process has known. w.mu is held.
func (w *Watch) drains(at place, u *routing.Upstream) drains {
	mark := u.Drain()
	now := drains{since: mark.Since, file: u.Draining, at: time.Now()}
	if before := w.told.drains[at]; before.since.Equal(now.since) && before.file == now.file && !before.at.IsZero() {
		now.at = before.at
	}
	return now
}

// underWay counts after d was read: what comes later is no new work.
func (w *Watch) underWay(at place, u *routing.Upstream, d drains) underWay {
	way := underWay{Pool: at.pool, Upstream: at.upstream, Unlisted: w.o.Bindings.Unlisted(at.pool, at.upstream)}
	if time.Since(d.at) >= settleFor {
		way.Since, way.File = d.since, d.file
	}
	now := u.UnderWay()
	way.Requests, way.Streams, way.Held, way.waiting = now.Requests, now.Streams, now.Held, now.Waiting
	return way
}

// resign tells the others that this berth has nothing under way any more but what it has left to them, which they need not count yet: that
// stands for the life of a report.
func (w *Watch) resign(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if last := w.lastReport(); len(last.Upstreams) > 0 {
		_ = w.post(ctx, last) // else the one before stands as long
		return
	}
	_ = w.o.Store.RemoveMember(ctx, berthsList, w.o.Name) // else it runs out
	_ = w.o.Store.Delete(ctx, reportKey(w.o.Name))
}

// lastReport is of the calls that others may go on with. Those that wait for their client go on where that answers: they are told as they
// were last, since they end here with the process.
func (w *Watch) lastReport() report {
	w.mu.Lock()
	defer w.mu.Unlock()
	waited := map[place]int{}
	for _, way := range w.told.Upstreams {
		waited[place{way.Pool, way.Upstream}] = way.waiting
	}
	last := report{Format: format, Gone: true}
	for _, pool := range w.o.Pools() {
		for _, u := range pool.Upstreams() {
			at, now := place{pool.Name(), u.Name}, u.UnderWay()
			if held := now.Left + max(now.Waiting, waited[at]); held > 0 {
				last.Upstreams = append(last.Upstreams, underWay{Pool: at.pool, Upstream: at.upstream, Held: held})
			}
		}
	}
	return last
}

// reports are those of all berths, this one's as it is now. Those count no more that were not written anew for their life, though they
// stand: the store's clock may have gone back.
func (w *Watch) reports(ctx context.Context) ([]report, error) {
	names, err := w.o.Store.Members(ctx, berthsList)
	if err != nil {
		return nil, err
	}
	all := []report{w.report()}
	w.keep(names)
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return name == w.o.Name }) {
		record, err := w.o.Store.Get(ctx, reportKey(name))
		if errors.Is(err, storage.ErrNotFound) {
			continue // it has resigned a moment ago
		}
		if err != nil {
			return nil, err
		}
		if w.isOld(name, record) {
			continue
		}
		var r report
		if err := json.Unmarshal(record.Value, &r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// isOld reports whether a berth's report has stood as it is for longer than a report lives.
func (w *Watch) isOld(name string, report storage.Record) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.others.Stood(name, report.Version, string(report.Value), 0) > reportLife
}

// keep forgets all reports but those of these berths.
func (w *Watch) keep(names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.others.Keep(names)
}
