#!lua flags=allow-oom
-- Says that a node is there, and forgets those that have not said so in time.
--
-- KEYS[1]  head of the partition
-- ARGV     node, for how long it is to be held for alive (ms)
-- returns  the time (microseconds), then the nodes that were forgotten
local now = math.floor(time_now() / 1000)
local away = time_away(now, ARGV[2])
local reply = { 0 }
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
