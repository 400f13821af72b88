package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// recordFunction writes a record under a condition. A record is kept as
// "<version>:<value>", so that one GET reads both and an operator can read it too. The
// answer is {done, text}: text is the new version if a record was written, else the
// record that stands, or nil.
//
// The version is compared as text and counted as a double, exact up to 2^53.
//
// To confirm, a record that stands is written again as it is: WAIT answers for what
// its own connection wrote, and this record came over another one.
const recordFunction = `
local function record(key, op, version, ttl, value, confirm)
  local standing = redis.call('GET', key)
  local at = standing and string.match(standing, '^(%d+):')
  if (op == 'absent' and standing) or (op == 'swap' and at ~= version) then
    if standing and confirm == '1' then
      redis.call('SET', key, standing, 'KEEPTTL')
    end
    return {0, standing}
  end

  local nextVersion = string.format('%.0f', tonumber(at or 0) + 1)
  if ttl > 0 then
    redis.call('SET', key, nextVersion .. ':' .. value, 'PX', ttl)
  elseif ttl < 0 then
    redis.call('SET', key, nextVersion .. ':' .. value, 'KEEPTTL')
  else
    redis.call('SET', key, nextVersion .. ':' .. value)
  end
  return {1, nextVersion}
end
`

// recordScript is the program that writes one record.
const recordScript = recordFunction + `
return record(KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5])
`

var recordProgram = newProgram(recordScript)

var errMalformed = errors.New("not a record of ours")

type command struct {
	op      string
	key     string
	version uint64 // WriteIfVersion: the one that must stand
	value   []byte
	ttl     time.Duration
}

type outcome struct {
	done bool
	text string // the new version, or the record that stands; empty if there is none
}

func (r *single) run(ctx context.Context, op string, c command) (outcome, error) {
	out, err := r.execute(ctx, op, c, r.replicas)
	return out, r.fail(ctx, op, err)
}

// execute is run without its words for errors.
func (r *single) execute(ctx context.Context, op string, c command, replicas int) (out outcome, err error) {
	p := passengers.Get().(*passenger)
	err = recordProgram.run(func(by, program any) error {
		p.request = named(p.request.begin(9).text(by.(string)).text(program.(string)).number(1), r.prefix, c.key).
			text(c.op).number(int64(c.version)).number(life(c.ttl)).bytes(c.value).number(int64(min(replicas, 1)))
		return r.carry(ctx, op, len(c.value), p)
	})
	if err == nil {
		out, err = outcomeOf(&p.answer)
	}
	if err == nil {
		err = confirmed(p.wait, replicas)
	}
	p.letGo()
	return out, err
}

// outcomeOf reads what recordScript answers.
func outcomeOf(a *response) (outcome, error) {
	if !a.array || len(a.parts) != 2 {
		return outcome{}, fmt.Errorf("script answered %d values: %w", len(a.parts), errMalformed)
	}
	return outcome{done: a.parts[0].kind == ':' && a.parts[0].n == 1, text: string(a.of(1))}, nil
}

func (o outcome) record(value []byte) (engine.Record, error) {
	if !o.done {
		return decode([]byte(o.text))
	}
	version, err := strconv.ParseUint(o.text, 10, 64)
	if err != nil {
		return engine.Record{}, errMalformed
	}
	return engine.Record{Value: bytes.Clone(value), Version: version}, nil
}

// life is a time to live as the scripts take it.
func life(ttl time.Duration) int64 {
	if ttl == engine.KeepTTL {
		return -1
	}
	return engine.Milliseconds(ttl)
}

// decode reads a record as it is kept. The record's value is the rest of data.
func decode(data []byte) (engine.Record, error) {
	digits, value, found := bytes.Cut(data, []byte(":"))
	version, err := strconv.ParseUint(string(digits), 10, 64)
	if !found || err != nil || version == 0 {
		return engine.Record{}, errMalformed
	}
	return engine.Record{Value: slices.Clip(value), Version: version}, nil
}

// program is a script, as commands take it: made into any once.
type program struct {
	text   any
	digest any // what a server knows it by once it has seen it
}

func newProgram(text string) program {
	return program{text: text, digest: redis.NewScript(text).Hash()}
}

// run sends the program by its digest, and with its text if the server does not know that (after a
// restart, a fail-over, or where the key has moved).
func (p program) run(send func(by, program any) error) error {
	err := send("evalsha", p.digest)
	if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		err = send("eval", p.text)
	}
	return err
}

var errUnreplicated = errors.New("written, and not known to be replicated")

type write struct {
	once
	answer *redis.Cmd    // the script's
	wait   *redis.IntCmd // how many replicas have the write; nil: nobody asked
}

func newWrite(cmd *redis.Cmd) *write { return &write{once: once{cmd}, answer: cmd} }

func (w *write) confirmed(replicas int) error { return confirmed(w.wait, replicas) }

// confirmed reports whether so many replicas have what was waited for.
func confirmed(wait *redis.IntCmd, replicas int) error {
	if replicas == 0 {
		return nil
	}
	if wait == nil {
		return errUnreplicated
	}
	if err := wait.Err(); err != nil {
		return err
	}
	if have := wait.Val(); have < int64(replicas) {
		return fmt.Errorf("%w: %d of %d replicas have it", errUnreplicated, have, replicas)
	}
	return nil
}
