package redis

import (
	"context"
	"time"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// addMemberScript makes a member of a list. A list is kept as a sorted set whose scores are
// the members' expiries in microseconds of Redis' own clock: two runs of the script take
// more than one, so that equal lives stand in the order of their arrival. Scores of 2^52
// and more, some 140 years from 1970, are of members that do not expire; all are exact in
// a double. The set expires with its last member. What has expired is removed some at a
// time: a list whose members expire together stalls nobody.
//
// To confirm, a member that stands is written again in its place, as a record is.
const addMemberScript = `
local list, member, ttl, most, confirm = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local endless, collected = 2^52, 32
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local gone = redis.call('ZRANGEBYSCORE', list, '-inf', now, 'LIMIT', 0, collected)
if #gone > 0 then
  redis.call('ZREM', list, unpack(gone))
end

local at = tonumber(redis.call('ZSCORE', list, member) or 0)
local stands = at > now
if stands and confirm == '0' then
  return 1
end
if stands then
  redis.call('ZREM', list, member)
else
  if most > 0 and redis.call('ZCOUNT', list, string.format('(%.0f', now), '+inf') >= most then
    return 0
  end
  at = ttl > 0 and now + ttl * 1000 or endless + now
end
redis.call('ZADD', list, at, member)
` + outliveLast + `
return 1
`

// outliveLast is for a script that has changed a list: the list lives as long as its last member.
const outliveLast = `
local last = tonumber(redis.call('ZRANGE', list, '-1', '-1', 'WITHSCORES')[2])
if last < 2^52 then
  redis.call('PEXPIREAT', list, string.format('%.0f', math.ceil(last / 1000)))
else
  redis.call('PERSIST', list)
end
`

// membersScript writes nothing, so that it is served where writes are refused.
const membersScript = `
local time = redis.call('TIME')
return redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', time[1] * 1000000 + time[2]), '+inf')
`

var (
	addMemberProgram = newProgram(addMemberScript)
	membersProgram   = newProgram(membersScript)
)

func (r *single) AddMember(ctx context.Context, list, member string, ttl time.Duration, most int) error {
	var w *write
	err := r.ask(ctx, engine.OpAddMember, func(ctx context.Context) error {
		err := addMemberProgram.run(func(by, program any) error {
			w = newWrite(redis.NewCmd(ctx, by, program, 1, r.prefix+list, member, engine.Milliseconds(ttl), most, min(r.replicas, 1)))
			return r.client.Process(ctx, w)
		})
		if err != nil {
			return err
		}
		if done, err := w.answer.Int(); err != nil || done == 0 {
			return err
		}
		return w.confirmed(r.replicas)
	})
	if done, _ := w.answer.Int(); err == nil && done == 0 {
		return engine.ErrFull
	}
	return err
}

func (r *single) RemoveMember(ctx context.Context, list, member string) error {
	return r.ask(ctx, engine.OpRemoveMember, func(ctx context.Context) error {
		w := newWrite(redis.NewCmd(ctx, "zrem", r.prefix+list, member))
		if err := r.client.Process(ctx, w); err != nil {
			return err
		}
		return w.confirmed(r.replicas)
	})
}

func (r *single) Members(ctx context.Context, list string) ([]string, error) {
	var members *redis.StringSliceCmd
	err := r.ask(ctx, engine.OpMembers, func(ctx context.Context) error {
		return membersProgram.run(func(by, program any) error {
			members = redis.NewStringSliceCmd(ctx, by, program, 1, r.prefix+list)
			return r.client.Process(ctx, once{members})
		})
	})
	return members.Val(), err
}
