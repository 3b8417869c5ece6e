#!lua flags=allow-oom
-- Heartbeat of a node, which also removes dead nodes and checks the clock. A clock far behind the newest receipt time is believed
-- after it has run for some time without a step, if the checks had no break (contract 4.5). Nodes check every 5 s.
-- ARGV     node, how long it counts as alive (ms), a time before which no clock is believed and no receipt time is given
--          (ms), how far behind a clock is not believed at once, and after which time it is (ms)
-- returns  the time (microseconds), the newest receipt time (ms), `from` and `to` of the newest step of the clock or 0 and 0 (ms),
--          whether the node was still among the nodes (1 or 0), then the dead nodes
local believed_behind, believed_after = tonumber(ARGV[4]), tonumber(ARGV[5])
local longest_break = 30000

local now = math.floor(time_now() / 1000)

local function look_at_clock()
  local receipt = newest_receipt()
  if receipt < tonumber(ARGV[3]) then
    redis.call('HSET', KEYS[1], 'receipt', ARGV[3])
    return
  end
  if now >= receipt - believed_behind or now < tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[1], 'behind-since', 'behind-seen')
    return
  end
  local since, seen = unpack(redis.call('HMGET', KEYS[1], 'behind-since', 'behind-seen'))
  if not since or now < tonumber(seen) or now > tonumber(seen) + longest_break then since = now end
  redis.call('HSET', KEYS[1], 'behind-since', since, 'behind-seen', text(now))
  if now - tonumber(since) < believed_after then return end
  redis.call('HDEL', KEYS[1], 'behind-since', 'behind-seen')
  redis.call('HSET', KEYS[1], 'receipt', text(now), 'stepped-from', text(receipt), 'stepped-to', text(now))
end

look_at_clock()
local away = time_away(now, ARGV[2])
local is_there = redis.call('ZSCORE', base .. 'nodes', ARGV[1]) and 1 or 0
local stepped = redis.call('HMGET', KEYS[1], 'stepped-from', 'stepped-to')
local reply = { 0, newest_receipt(), tonumber(stepped[1] or '0'), tonumber(stepped[2] or '0'), is_there }
for _, node in ipairs(redis.call('ZRANGE', base .. 'nodes', '-inf', text(now - away), 'BYSCORE')) do
  redis.call('ZREM', base .. 'nodes', node)
  if node ~= ARGV[1] then reply[#reply + 1] = node end
end
if away > 0 then
  for _, node in ipairs(redis.call('ZRANGE', base .. 'nodes', 0, -1)) do
    redis.call('ZINCRBY', base .. 'nodes', text(away), node)
  end
end
redis.call('ZADD', base .. 'nodes', text(now + ARGV[2]), ARGV[1])
reply[1] = time_now()
return reply
