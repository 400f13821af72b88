package storage

// keepFunction makes a member of a list anew, as keepMembersScript does; the nth of those of one script.
const keepFunction = `
local endless, collected = 2^52, 32
local now

local function keep(list, member, ttl, nth)
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
  end
  local gone = redis.call('ZRANGEBYSCORE', list, '-inf', now, 'LIMIT', 0, collected)
  if #gone > 0 then
    redis.call('ZREM', list, unpack(gone))
  end
  local at = now + nth
  redis.call('ZADD', list, ttl > 0 and at + ttl * 1000 or endless + at, member)
  local last = tonumber(redis.call('ZRANGE', list, -1, -1, 'WITHSCORES')[2])
  if last < endless then
    redis.call('PEXPIREAT', list, string.format('%.0f', math.ceil(last / 1000)))
  else
    redis.call('PERSIST', list)
  end
end
`

// eachScript makes records, and members of lists as keepMembersScript does. Its keys are those of the records, each
// with its list behind it if it has one; its arguments whether to confirm, and five for each record: how to write it
// (writesOver, writesList), life, value, member and its life. It answers 1, or for each record what stands in its way, or
// nothing.
//
// A record that is made is at version 1, and needs no look at what stands before it is written.
const eachScript = keepFunction + `
local function set(key, value, ttl, ...)
  if ttl > 0 then
    return redis.call('SET', key, value, 'PX', ttl, ...)
  end
  return redis.call('SET', key, value, ...)
end

local confirm, key, answer, whole = ARGV[1], 1, {}, true
for i = 2, #ARGV, 5 do
  local how, name, ttl, value = tonumber(ARGV[i]), KEYS[key], tonumber(ARGV[i + 1]), ARGV[i + 2]
  local standing = false
  if how % 2 == 1 then
    local before = redis.call('GET', name)
    local version = string.format('%.0f', tonumber(before and string.match(before, '^(%d+):') or 0) + 1)
    if ttl < 0 then
      redis.call('SET', name, version .. ':' .. value, 'KEEPTTL')
    else
      set(name, version .. ':' .. value, ttl)
    end
  elseif not set(name, '1:' .. value, ttl, 'NX') then
    standing = redis.call('GET', name)
    whole = false
    if confirm == '1' then
      redis.call('SET', name, standing, 'KEEPTTL')
    end
  end
  key = key + 1
  if how >= 2 then
    if not standing then
      keep(KEYS[key], ARGV[i + 3], tonumber(ARGV[i + 4]), (i - 2) / 5)
    end
    key = key + 1
  end
  answer[#answer + 1] = standing
end
if whole then
  return 1
end
return answer
`

var eachProgram = newProgram(eachScript)
