package redis

import (
	"bytes"
	"context"
	"fmt"

	"berth/internal/storage/engine"
)

func (r *single) Each(ctx context.Context, writes []engine.Write) error {
	p, cargo := passengers.Get().(*passenger), 0
	for i := range writes {
		cargo += len(writes[i].Value)
	}
	program, command := eachProgram, (*single).write
	if r.replicas == 0 && len(writes) == 1 && listsAnew(&writes[0]) {
		program, command = listedProgram, (*single).writeListed
	}
	err := program.run(func(by, program any) error {
		p.request = command(r, p.request, by.(string), program.(string), writes)
		return r.carry(ctx, engine.OpEach, cargo, p)
	})
	if err == nil {
		err = tell(writes, &p.answer)
	}
	if err == nil {
		err = confirmed(p.wait, r.replicas)
	}
	p.letGo()
	return r.fail(ctx, engine.OpEach, err)
}

// What the first argument of a write says, added up.
const (
	writesOver = 1
	writesList = 2
)

// eachConfirms is the last argument where what stands is to be confirmed.
const eachConfirms = "confirm"

// write has q be the command that runs eachScript.
func (r *single) write(q request, by, program string, writes []engine.Write) request {
	keys, arguments := len(writes), 3+4*len(writes)
	for i := range writes {
		if writes[i].List != "" {
			keys, arguments = keys+1, arguments+3
		}
	}
	if r.replicas > 0 {
		arguments++
	}
	q = q.begin(arguments).text(by).text(program).number(int64(keys))
	for i := range writes {
		if q = named(q, r.prefix, writes[i].Key); writes[i].List != "" {
			q = named(q, r.prefix, writes[i].List)
		}
	}
	for i := range writes {
		q = q.write(&writes[i])
	}
	if r.replicas > 0 {
		q = q.text(eachConfirms)
	}
	return q
}

// listsAnew reports whether w makes a record for a time, and a member of a list: what listedScript does.
func listsAnew(w *engine.Write) bool { return !w.Over && w.TTL > 0 && w.List != "" }

// writeListed has q be the command that runs listedScript.
func (r *single) writeListed(q request, by, program string, writes []engine.Write) request {
	w := &writes[0]
	q = q.begin(9).text(by).text(program).number(2)
	q = named(named(q, r.prefix, w.Key), r.prefix, w.List)
	q = named(q, firstVersion, w.Value).number(engine.Milliseconds(w.TTL))
	return q.text(w.Member.Name).number(engine.Milliseconds(w.Member.Left))
}

// firstVersion begins a record that is made.
const firstVersion = "1:"

// write has q go on with the arguments of w.
func (q request) write(w *engine.Write) request {
	how, version := int64(0), firstVersion
	if w.Over {
		how, version = writesOver, ""
	}
	if w.List != "" {
		how += writesList
	}
	q = named(q.number(how), version, w.Value).number(life(w.TTL))
	if w.List != "" {
		q = q.text(w.Member.Name).number(engine.Milliseconds(w.Member.Left))
	}
	return q
}

// tell reads what eachScript answers.
func tell(writes []engine.Write, a *response) error {
	if !a.array && !a.is(1) || a.array && len(a.parts) != len(writes) {
		return fmt.Errorf("script answered %d values: %w", len(a.parts), errMalformed)
	}
	for i := range writes {
		w := &writes[i]
		if w.Done = !a.array || len(a.of(i)) == 0; w.Done {
			w.Listed = w.List != ""
			continue
		}
		record, err := decode(bytes.Clone(a.of(i)))
		if err != nil {
			return err
		}
		w.Standing = record
	}
	return nil
}
