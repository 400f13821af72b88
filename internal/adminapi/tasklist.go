package adminapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"berth/internal/api"
	"berth/sticky"
	"berth/upgrade"
)

const (
	// tasksMost bounds what one snapshot reads of each kind, so that it has room in memory, and lists
	// that are read at once hold no store up.
	tasksMost  = 50_000
	readAtOnce = 128 // records

	kindServer, kindUpgraded = "server", "upgraded"
)

// taskList is a snapshot of tasks.
type taskList struct {
	all     []*api.Task // which do not change
	partial string
	ended   map[string]*api.Task // upgraded ones, which change no more, by id
	lines   map[string]string    // that upgraded ones stand in, by id

	payloads bool // they bear what servers say
}

// read reads what upstreams own and what stands of upgraded tasks. What had ended before is not read
// again.
func (ts *tasks) read(ctx context.Context, before *taskList, pause *pause, show func(*taskList)) (*taskList, error) {
	list := &taskList{ended: map[string]*api.Task{}, lines: map[string]string{}, payloads: ts.payloads()}
	shown := func() error {
		due, err := pause.take(ctx)
		if due {
			soFar := *list
			soFar.all = slices.Clone(list.all)
			inOrder(soFar.all, placeOfTask)
			show(&soFar)
		}
		return err
	}
	if err := ts.readServers(ctx, list, shown); err != nil {
		return nil, err
	}
	if upgraded := ts.upgraded(); upgraded != nil {
		if err := ts.readUpgraded(ctx, upgraded.Overview, before, list, shown); err != nil {
			return nil, err
		}
		list.findPlaces(ctx, upgraded.Queues)
	}
	inOrder(list.all, placeOfTask)
	return list, nil
}

// readServers reads the tasks that servers have made. rest is called after each piece of work.
func (ts *tasks) readServers(ctx context.Context, list *taskList, rest func() error) error {
	for _, pool := range ts.pools() {
		for _, u := range pool.Upstreams() {
			read := 0
			all, err := ts.bindings.EachLeft(ctx, sticky.Task, pool.Name(), u.Name, tasksMost, func(some []sticky.Left) error {
				for _, one := range some {
					list.all = append(list.all, ts.serverTask(pool.Name(), u.Name, one))
				}
				read += len(some)
				return rest()
			})
			if err != nil {
				return err
			}
			list.missing(all-read, u.Name)
		}
	}
	return nil
}

func (l *taskList) missing(n int, where string) {
	if n > 0 {
		l.partial = cmp.Or(l.partial, fmt.Sprintf("%d tasks of %s are not among them", n, where))
	}
}

// readUpgraded reads the tasks of berth's own making.
func (ts *tasks) readUpgraded(ctx context.Context, upgraded *upgrade.Overview, before, list *taskList, rest func() error) error {
	ids, all, err := upgraded.Found(ctx, tasksMost)
	if err != nil {
		return err
	}
	list.missing(all-len(ids), "berth's own")
	if before != nil {
		ids = slices.DeleteFunc(ids, func(id string) bool {
			one, known := before.ended[id]
			if known = known && before.payloads == list.payloads; known {
				list.all, list.ended[id] = append(list.all, one), one
			}
			return known
		})
	}
	for some := range slices.Chunk(ids, readAtOnce) {
		records, whole, err := upgraded.ReadSome(ctx, some)
		if err != nil {
			return err
		}
		if !whole {
			list.partial = "some tasks are of a newer berth, and are not among them"
		}
		for i := range records {
			one := upgradedTask(&records[i], list.payloads)
			list.all = append(list.all, one)
			switch t := &records[i]; {
			case t.State.Terminal():
				list.ended[t.ID] = one
			case t.State == upgrade.Queued:
				list.lines[t.ID] = t.QueueName()
			}
		}
		if err := rest(); err != nil {
			return err
		}
	}
	return nil
}

// findPlaces says where tasks stand in their lines. Each line is read once.
func (l *taskList) findPlaces(ctx context.Context, queues *upgrade.Queues) {
	places := map[string]map[string]int{}
	for i, t := range l.all {
		line := l.lines[t.ID]
		if t.Kind != kindUpgraded || line == "" {
			continue
		}
		if places[line] == nil {
			places[line] = map[string]int{}
			waiting, _ := queues.Line(ctx, line) // else nobody can say, for now
			for n, id := range waiting {
				places[line][id] = n + 1
			}
		}
		placed := *t
		placed.Place = places[line][t.ID]
		l.all[i] = &placed
	}
}
