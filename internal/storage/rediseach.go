package storage

import (
	"bytes"
	"context"
	"fmt"
)

func (r *redisEngine) each(ctx context.Context, writes []Write) error {
	p, cargo, arguments := passengers.Get().(*passenger), 0, 3+1+5*len(writes)
	for i := range writes {
		cargo += len(writes[i].Value)
		if arguments++; writes[i].List != "" {
			arguments++
		}
	}
	err := eachProgram.run(func(by, program any) error {
		p.request = r.write(p.request.begin(arguments).text(by.(string)).text(program.(string)), writes)
		return r.carry(ctx, opEach, cargo, p)
	})
	if err == nil {
		err = tell(writes, &p.answer)
	}
	if err == nil {
		err = confirmed(p.wait, r.replicas)
	}
	p.letGo()
	return r.fail(ctx, opEach, err)
}

// What the first argument of a write says, added up.
const (
	writesOver = 1
	writesList = 2
)

// write has q go on with the keys and the arguments of eachScript.
func (r *redisEngine) write(q request, writes []Write) request {
	keys := len(writes)
	for i := range writes {
		if writes[i].List != "" {
			keys++
		}
	}
	q = q.number(int64(keys))
	for i := range writes {
		if q = named(q, r.prefix, writes[i].Key); writes[i].List != "" {
			q = named(q, r.prefix, writes[i].List)
		}
	}
	q = q.number(int64(min(r.replicas, 1)))
	for i := range writes {
		w, how, left := &writes[i], int64(0), int64(0)
		if w.Over {
			how += writesOver
		}
		if w.List != "" {
			how += writesList
			left = milliseconds(w.Member.Left)
		}
		q = q.number(how).number(life(w.TTL)).text(w.Value).text(w.Member.Name).number(left)
	}
	return q
}

// tell reads what eachScript answers.
func tell(writes []Write, a *response) error {
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
