package redis

import (
	"bytes"
	"context"
	"fmt"

	"berth/internal/storage/engine"
)

// inOrderScript does steps. Its keys are what each is about; its arguments whether to confirm, and four for each: what to
// do, life, value, version. It answers how many it has done, and what stands in the way of the next one.
const inOrderScript = recordFunction + keepFunction + `
local confirm = ARGV[1]
for i, key in ipairs(KEYS) do
  local at = 4 * i - 2
  local op, ttl, value = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  if op == 'keep' then
    keep(key, value, ttl, i)
  elseif op == 'delist' then
    redis.call('ZREM', key, value)
  elseif op == 'delete' then
    redis.call('DEL', key)
  elseif op == 'notify' then
    redis.call('PUBLISH', key, value)
  else
    local answer = record(key, op, ARGV[at + 3], ttl, value, confirm)
    if answer[1] == 0 then
      return {i - 1, answer[2]}
    end
  end
end
return {#KEYS, false}
`

var inOrderProgram = newProgram(inOrderScript)

func (r *single) InOrder(ctx context.Context, steps []engine.Step) (done int, standing engine.Record, err error) {
	p, cargo := passengers.Get().(*passenger), 0
	for i := range steps {
		cargo += len(steps[i].Value)
	}
	err = inOrderProgram.run(func(by, program any) error {
		p.request = r.steps(p.request.begin(4+5*len(steps)).text(by.(string)).text(program.(string)), steps)
		return r.carry(ctx, engine.OpEach, cargo, p)
	})
	if err == nil {
		done, standing, err = readInOrder(&p.answer, len(steps))
	}
	if err == nil {
		if err = confirmed(p.wait, r.replicas); err != nil {
			done, standing = 0, engine.Record{} // what no replica has may be lost: it does not count
		}
	}
	p.letGo()
	return done, standing, r.fail(ctx, engine.OpEach, err)
}

// steps has q go on with the keys and the arguments of inOrderScript.
func (r *single) steps(q request, steps []engine.Step) request {
	q = q.number(int64(len(steps)))
	channels := r.channel("")
	for i := range steps {
		prefix := r.prefix
		if steps[i].Kind == engine.StepNotify {
			prefix = channels
		}
		q = named(q, prefix, steps[i].Key)
	}
	q = q.number(int64(min(r.replicas, 1)))
	for i := range steps {
		s := &steps[i]
		left := life(s.Life)
		if s.Kind == engine.StepKeep {
			left = engine.Milliseconds(s.Life)
		}
		if q = q.text(s.Kind).number(left); s.Value == nil {
			q = q.text(s.Word)
		} else {
			q = q.bytes(s.Value)
		}
		q = q.number(int64(s.Version))
	}
	return q
}

// readInOrder reads what inOrderScript answers of so many steps.
func readInOrder(a *response, steps int) (done int, standing engine.Record, err error) {
	if !a.array || len(a.parts) != 2 || a.parts[0].kind != ':' || a.parts[0].n < 0 || a.parts[0].n > int64(steps) {
		return 0, engine.Record{}, fmt.Errorf("script answered %d values: %w", len(a.parts), errMalformed)
	}
	if a.parts[1].kind == '$' {
		standing, err = decode(bytes.Clone(a.of(1)))
	}
	return int(a.parts[0].n), standing, err
}
