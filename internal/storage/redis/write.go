package redis

// keepFunction makes a member of a list anew, as keepMembersScript does; the nth of those of one script. The list lives as long as
// its last member, or as one did that was the last and was made anew with a shorter life.
//
// What has expired is removed by one script in eight, by chance, and then as much as comes in the meantime, several times.
//
// A number that Redis is handed as one, it writes with 17 digits, which takes longer than some commands do, and '%.0f' half as long;
// '%d' is quick, where it has 64 bits.
//
// Most are the last when they come, or of the same millisecond as the last, which servers from 7.0 on (they alone know their version)
// find out while they set the expiry: one that stands and is no earlier is left. Who may not ask for it does as the others do.
const keepFunction = `
local call, now, whole = redis.call

local function keep(list, member, ttl, nth)
  if not now then
    local time = call('TIME')
    now = time[1] * 1000000 + time[2]
    whole = #string.format('%d', now) == 16 and '%d' or '%.0f'
  end
  local at = now + nth + (ttl > 0 and ttl * 1000 or 2^52)
  call('ZADD', list, string.format(whole, at), member)
  if now % 8 == 0 then
    local gone = call('ZRANGEBYSCORE', list, '-inf', now, 'LIMIT', '0', '64')
    if #gone > 0 then
      call('ZREM', list, unpack(gone))
    end
  end
  if ttl > 0 and redis.REDIS_VERSION_NUM then
    local ends = string.format(whole, (at - at % 1000) / 1000 + 1)
    if call('PEXPIREAT', list, ends, 'GT') == 1 then
      return
    end
    local left = redis.pcall('PTTL', list)
    if type(left) == 'number' and left >= 0 then
      return
    end
  end
` + outliveLast + `
end
`

// listedScript is eachScript for what most creations are: a record that is to be made, and live for a time, with its place in a
// list. Its keys are those of both; its arguments value and life, member and its life.
const listedScript = keepFunction + `
if not call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then
  return {call('GET', KEYS[1])}
end
keep(KEYS[2], ARGV[3], tonumber(ARGV[4]), 1)
return 1
`

// eachScript makes records, and members of lists as keepMembersScript does. Its keys are those of the records, each
// with its list behind it if it has one; its arguments for each record how to write it (writesOver, writesList), value and life,
// and with a list member and its life; behind them, perhaps, eachConfirms. It answers 1, or for each record what stands in its way,
// or nothing.
//
// A record that is made is at version 1, as its value says then, and needs no look at what stands before it is written.
const eachScript = keepFunction + `
local function write(how, name, value, life)
  if how == '1' or how == '3' then
    local before = call('GET', name)
    value = string.format('%.0f:', tonumber(before and string.match(before, '^(%d+):') or 0) + 1) .. value
    if life == '-1' then
      return call('SET', name, value, 'KEEPTTL')
    elseif life == '0' then
      return call('SET', name, value)
    end
    return call('SET', name, value, 'PX', life)
  elseif life == '0' or life == '-1' then
    return call('SET', name, value, 'NX')
  end
  return call('SET', name, value, 'PX', life, 'NX')
end

local key, i, n, answer, whole, confirm = 1, 1, 0, {}, true, ARGV[#ARGV] == 'confirm'
while KEYS[key] do
  local how, name, standing = ARGV[i], KEYS[key], false
  if not write(how, name, ARGV[i + 1], ARGV[i + 2]) then
    standing = call('GET', name)
    whole = false
    if confirm then
      call('SET', name, standing, 'KEEPTTL')
    end
  end
  key, i, n = key + 1, i + 3, n + 1
  if how == '2' or how == '3' then
    if not standing then
      keep(KEYS[key], ARGV[i], tonumber(ARGV[i + 1]), n)
    end
    key, i = key + 1, i + 2
  end
  answer[n] = standing
end
if whole then
  return 1
end
return answer
`

var (
	eachProgram   = newProgram(eachScript)
	listedProgram = newProgram(listedScript)
)
