#!lua flags=allow-oom
-- KEYS[1]  head of the store
-- ARGV     node, task: free for another node if it was this one that led it
-- returns  nothing
local hold = 'task/' .. ARGV[2]
local holder = holder_of(hold)
if holder and string.sub(holder, 1, #ARGV[1] + 1) == ARGV[1] .. ':' then
  redis.call('HDEL', base .. 'h', hold)
  redis.call('HDEL', base .. 'lead-ends', ARGV[2])
end
