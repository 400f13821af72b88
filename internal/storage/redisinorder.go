package storage

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"
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

// orderedCall is what the script is asked with, in one piece that is used again, as eachCall is.
type orderedCall struct {
	args []any
	keys []text
	life []int64
}

var orderedCalls = sync.Pool{New: func() any { return new(orderedCall) }}

func (r *redisEngine) inOrder(ctx context.Context, steps []Step) (done int, standing Record, err error) {
	call, cargo := orderedCalls.Get().(*orderedCall), 0
	for i := range steps {
		cargo += len(steps[i].value)
	}
	args := call.argumentsOf(r, steps)
	var w *write
	err = inOrderProgram.run(func(by, program any) error {
		args[0], args[1] = by, program
		w = newWrite(redis.NewCmd(context.Background(), args...))
		return r.carry(ctx, opEach, cargo, w)
	})
	if err == nil {
		done, standing, err = readInOrder(w.answer.Val(), len(steps))
	}
	if err == nil {
		err = w.confirmed(r.replicas)
	}
	clear(args)
	orderedCalls.Put(call)
	return done, standing, r.fail(ctx, opEach, err)
}

func (c *orderedCall) argumentsOf(r *redisEngine, steps []Step) []any {
	for len(c.keys) < len(steps) {
		c.keys, c.life = append(c.keys, nil), append(c.life, 0)
	}
	args := append(c.args[:0], nil, nil, len(steps))
	for i := range steps {
		name := append(c.keys[i][:0], r.prefix...)
		if steps[i].kind == stepNotify {
			name = append(name[:0], r.channel("")...)
		}
		c.keys[i] = append(name, steps[i].key...)
		args = append(args, &c.keys[i])
	}
	args = append(args, min(r.replicas, 1))
	for i := range steps {
		s := &steps[i]
		if c.life[i] = life(s.life); s.kind == stepKeep {
			c.life[i] = milliseconds(s.life)
		}
		args = append(args, &s.kind, &c.life[i], s.text(), &s.version)
	}
	c.args = args
	return args
}

// text is the argument that the step writes.
func (s *Step) text() any {
	if s.value == nil {
		return &s.word
	}
	return &s.value
}

// readInOrder reads what inOrderScript answers of so many steps.
func readInOrder(answer any, steps int) (done int, standing Record, err error) {
	told, _ := answer.([]any)
	if len(told) != 2 {
		return 0, Record{}, fmt.Errorf("script answered %T: %w", answer, errMalformed)
	}
	n, ok := told[0].(int64)
	if !ok || n < 0 || n > int64(steps) {
		return 0, Record{}, errMalformed
	}
	if text, stands := told[1].(string); stands {
		standing, err = decode([]byte(text))
	}
	return int(n), standing, err
}
