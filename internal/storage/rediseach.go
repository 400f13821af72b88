package storage

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"
)

// eachCall is what the script is asked with, in one piece that is used again: once carry has returned, nobody else has it.
// Arguments that do not fit into a pointer would be copied each.
type eachCall struct {
	write
	cmd    redis.Cmd
	args   [16]any // room for two records
	fields [2]fields
}

// fields are what the arguments of one write point to.
type fields struct {
	key, list  text
	life, left int64
}

var eachCalls = sync.Pool{New: func() any { return new(eachCall) }}

// letGo ends the use of c, which keeps nothing of it but room.
func (c *eachCall) letGo() {
	c.write, c.cmd = write{}, redis.Cmd{}
	clear(c.args[:])
	eachCalls.Put(c)
}

func (r *redisEngine) each(ctx context.Context, writes []Write) error {
	call, cargo := eachCalls.Get().(*eachCall), 0
	for i := range writes {
		cargo += len(writes[i].Value)
	}
	args := r.argumentsOf(call, writes)
	err := eachProgram.run(func(by, program any) error {
		args[0], args[1] = by, program
		call.cmd = *redis.NewCmd(context.Background(), args...)
		call.write = write{once: once{&call.cmd}, answer: &call.cmd}
		return r.carry(ctx, opEach, cargo, &call.write)
	})
	if err == nil {
		err = tell(writes, call.cmd.Val())
	}
	if err == nil {
		err = call.confirmed(r.replicas)
	}
	call.letGo()
	return r.fail(ctx, opEach, err)
}

// What the first argument of a write says, added up.
const (
	writesOver = 1
	writesList = 2
)

func (r *redisEngine) argumentsOf(call *eachCall, writes []Write) []any {
	all := call.fields[:]
	if len(writes) > len(all) {
		all = make([]fields, len(writes))
	}
	all = all[:len(writes)]
	args := append(call.args[:0], nil, nil, 0)
	for i := range writes {
		w, f := &writes[i], &all[i]
		f.key, f.life, f.left = append(append(f.key[:0], r.prefix...), w.Key...), life(w.TTL), 0
		args = append(args, &f.key)
		if w.List != "" {
			f.list, f.left = append(append(f.list[:0], r.prefix...), w.List...), milliseconds(w.Member.Left)
			args = append(args, &f.list)
		}
	}
	args[2] = len(args) - 3
	args = append(args, min(r.replicas, 1))
	for i := range writes {
		w, how := &writes[i], 0
		if w.Over {
			how += writesOver
		}
		if w.List != "" {
			how += writesList
		}
		args = append(args, how, &all[i].life, &w.Value, &w.Member.Name, &all[i].left)
	}
	return args
}

// tell reads what eachScript answers.
func tell(writes []Write, answer any) error {
	standing, partly := answer.([]any)
	if !partly && answer != int64(1) || partly && len(standing) != len(writes) {
		return fmt.Errorf("script answered %T: %w", answer, errMalformed)
	}
	for i := range writes {
		w := &writes[i]
		var text string
		if partly {
			text, _ = standing[i].(string)
		}
		if w.Done = text == ""; w.Done {
			w.Listed = w.List != ""
			continue
		}
		record, err := decode([]byte(text))
		if err != nil {
			return err
		}
		w.Standing = record
	}
	return nil
}
