package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// keepMembersScript makes members anew, in a list as addMemberScript keeps it. Its arguments are
// members and their lives in milliseconds, by turns. Each member's score is its own, so that equal
// lives stand in the order of their arrival.
const keepMembersScript = `
local list = KEYS[1]
local endless, collected = 2^52, 32
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local gone = redis.call('ZRANGEBYSCORE', list, '-inf', now, 'LIMIT', 0, collected)
if #gone > 0 then
  redis.call('ZREM', list, unpack(gone))
end
for i = 1, #ARGV, 2 do
  local ttl, at = tonumber(ARGV[i + 1]), now + (i - 1) / 2
  redis.call('ZADD', list, ttl > 0 and at + ttl * 1000 or endless + at, ARGV[i])
end
` + outliveLast + `
return 1
`

// listingScript answers {size, life of the last that expires, member, life, ...}, lives in
// microseconds. It writes nothing.
const listingScript = `
local list, most, endless = KEYS[1], tonumber(ARGV[1]), 2^52
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local after = string.format('(%.0f', now)

local function left(score)
  local at = tonumber(score)
  return at < endless and string.format('%.0f', at - now) or '0'
end

local last = redis.call('ZREVRANGEBYSCORE', list, string.format('(%.0f', endless), after, 'WITHSCORES', 'LIMIT', 0, 1)
local answer = {redis.call('ZCOUNT', list, after, '+inf'), last[2] and left(last[2]) or '0'}
if most > 0 then
  local members = redis.call('ZRANGEBYSCORE', list, after, '+inf', 'WITHSCORES', 'LIMIT', 0, most)
  for i = 1, #members, 2 do
    answer[#answer + 1] = members[i]
    answer[#answer + 1] = left(members[i + 1])
  end
end
return answer
`

// pageScript answers {now, {member, score, ...}} of members from a score on. It writes nothing.
const pageScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local from = tonumber(ARGV[1]) > now and ARGV[1] or string.format('(%.0f', now)
return {string.format('%.0f', now), redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])}
`

var (
	keepMembersProgram = newProgram(keepMembersScript)
	listingProgram     = newProgram(listingScript)
	pageProgram        = newProgram(pageScript)
)

func (r *single) KeepMembers(ctx context.Context, list string, members ...engine.Member) error {
	if len(members) == 0 {
		return nil
	}
	return r.ask(ctx, engine.OpKeepMembers, func(ctx context.Context) error {
		var w *write
		err := keepMembersProgram.run(func(by, program any) error {
			args := make([]any, 0, 4+2*len(members))
			args = append(args, by, program, 1, r.prefix+list)
			for _, member := range members {
				args = append(args, member.Name, engine.Milliseconds(member.Left))
			}
			w = newWrite(redis.NewCmd(ctx, args...))
			return r.client.Process(ctx, w)
		})
		if err != nil {
			return err
		}
		return w.confirmed(r.replicas)
	})
}

func (r *single) Listing(ctx context.Context, list string, most int) (listing engine.Listing, err error) {
	err = r.ask(ctx, engine.OpListing, func(ctx context.Context) error {
		var answer *redis.SliceCmd
		err := listingProgram.run(func(by, program any) error {
			answer = redis.NewSliceCmd(ctx, by, program, 1, r.prefix+list, most)
			return r.client.Process(ctx, once{answer})
		})
		if err == nil {
			listing, err = listingOf(answer.Val())
		}
		return err
	})
	return listing, err
}

// listingOf reads what listingScript answers.
func listingOf(answer []any) (listing engine.Listing, err error) {
	if len(answer) < 2 || len(answer)%2 != 0 {
		return engine.Listing{}, errMalformed
	}
	size, _ := answer[0].(int64)
	listing.Size = int(size)
	if listing.Last, err = microseconds(answer[1]); err != nil {
		return engine.Listing{}, err
	}
	for i := 2; i < len(answer); i += 2 {
		name, _ := answer[i].(string)
		left, err := microseconds(answer[i+1])
		if err != nil {
			return engine.Listing{}, err
		}
		listing.Members = append(listing.Members, engine.Member{Name: name, Left: left})
	}
	return listing, nil
}

func microseconds(answer any) (time.Duration, error) {
	text, _ := answer.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errMalformed
	}
	return time.Duration(n) * time.Microsecond, nil
}

// Page implements Engine.
func (r *single) Page(ctx context.Context, list, from string, most int) (page engine.Page, err error) {
	last := placeOf(from)
	err = r.ask(ctx, engine.OpPage, func(ctx context.Context) error {
		var answer *redis.SliceCmd
		err := pageProgram.run(func(by, program any) error {
			answer = redis.NewSliceCmd(ctx, by, program, 1, r.prefix+list, last.score, last.equals+most+1)
			return r.client.Process(ctx, once{answer})
		})
		if err == nil {
			page, err = last.pageOf(answer.Val(), most)
		}
		return err
	})
	return page, err
}

// listPlace is that of a member which stood in a list: Redis has those of one score in the order of their names.
type listPlace struct {
	score  int64
	equals int // how many of that score stood up to it, this one among them
	name   string
}

func (p listPlace) String() string { return fmt.Sprintf("%d %d %s", p.score, p.equals, p.name) }

// placeOf reads a place; what is none is the beginning.
func placeOf(text string) listPlace {
	parts := strings.SplitN(text, " ", 3)
	if len(parts) < 3 {
		return listPlace{}
	}
	score, malformed := strconv.ParseInt(parts[0], 10, 64)
	equals, err := strconv.Atoi(parts[1])
	if malformed != nil || err != nil || equals < 0 {
		return listPlace{}
	}
	return listPlace{score, equals, parts[2]}
}

// pageOf reads what pageScript answers: the page behind p.
func (p listPlace) pageOf(answer []any, most int) (page engine.Page, err error) {
	if len(answer) != 2 {
		return engine.Page{}, errMalformed
	}
	text, _ := answer[0].(string)
	now, malformed := strconv.ParseInt(text, 10, 64)
	members, _ := answer[1].([]any)
	if malformed != nil || len(members)%2 != 0 {
		return engine.Page{}, errMalformed
	}
	isFull, stood := len(members)/2 > p.equals+most, 0 // of p's score, up to p
	for i := 0; i < len(members); i += 2 {
		name, _ := members[i].(string)
		text, _ := members[i+1].(string)
		score, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
			return engine.Page{}, errMalformed
		case score == p.score && p.equals > 0 && name <= p.name:
			stood++
			continue
		case len(page.Members) == most:
			page.Next = p.String()
			return page, nil
		case score != p.score:
			p = listPlace{score: score}
		}
		p.equals, p.name = p.equals+1, name
		page.Members = append(page.Members, engine.Member{Name: name, Left: leftAt(score, now)})
	}
	if isFull { // those of one score that came meanwhile have taken the place of others
		if len(page.Members) == 0 {
			p.equals = stood
		}
		page.Next = p.String()
	}
	return page, nil
}

// leftAt is the life of a member of that score; 0: for good.
func leftAt(score, now int64) time.Duration {
	if score >= 1<<52 {
		return 0
	}
	return time.Duration(score-now) * time.Microsecond
}
