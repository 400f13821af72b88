package storage

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The operations of the script.
const (
	writeIfAbsent  = "absent"
	writeIfVersion = "swap"
	writeAlways    = "put"
)

// recordScript is the program that writes a record under a condition. A
// record is kept as "<version>:<value>", so that one GET reads both and an operator
// can read it too. The answer is {done, text}: text is the new version if a record
// was written, else the record that stands, or nil.
//
// The version is compared as text and counted as a double, exact up to 2^53.
//
// To confirm, a record that stands is written again as it is: WAIT answers for what
// its own connection wrote, and this record came over another one.
const recordScript = `
local key, op, version, ttl, value, confirm = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]

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
`

var recordProgram = newProgram(recordScript)

// errMalformed means that a key under our prefix was not written by this package.
var errMalformed = errors.New("not a record of ours")

type command struct {
	op      string
	key     string
	version uint64 // writeIfVersion: the one that must stand
	value   []byte
	ttl     time.Duration
	confirm bool // write the record that stands again
}

type outcome struct {
	done bool
	text string // the new version, or the record that stands; empty if there is none
}

// run sends c. A write that fewer replicas have than asked for is errUnreplicated.
func (c command) run(ctx context.Context, client redis.UniversalClient, replicas int) (outcome, error) {
	var w *write
	err := recordProgram.run(func(by, program string) error {
		w = c.write(ctx, by, program)
		return client.Process(ctx, w)
	})
	if err != nil {
		return outcome{}, err
	}
	out, err := c.outcome(w.answer)
	if err != nil {
		return outcome{}, err
	}
	return out, w.confirmed(replicas)
}

func (c command) write(ctx context.Context, name, program string) *write {
	confirm := "0"
	if c.confirm {
		confirm = "1"
	}
	return newWrite(redis.NewCmd(ctx, name, program, 1, c.key,
		c.op, strconv.FormatUint(c.version, 10), c.life(), c.value, confirm))
}

func (c command) life() int64 {
	if c.ttl == KeepTTL {
		return -1
	}
	return milliseconds(c.ttl)
}

func (c command) outcome(cmd *redis.Cmd) (outcome, error) {
	answer, err := cmd.Slice()
	if err != nil {
		return outcome{}, err
	}
	if len(answer) != 2 {
		return outcome{}, fmt.Errorf("script answered %d values: %w", len(answer), errMalformed)
	}
	text, _ := answer[1].(string)
	return outcome{done: answer[0] == int64(1), text: text}, nil
}

// milliseconds rounds up: a short life must not become an endless one.
func milliseconds(ttl time.Duration) int64 {
	if ttl <= 0 {
		return 0
	}
	return int64((ttl-1)/time.Millisecond) + 1
}

func decode(text string) (Record, error) {
	digits, value, found := strings.Cut(text, ":")
	version, err := strconv.ParseUint(digits, 10, 64)
	if !found || err != nil || version == 0 {
		return Record{}, errMalformed
	}
	return Record{Value: []byte(value), Version: version}, nil
}
