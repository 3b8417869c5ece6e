#!lua flags=allow-oom
-- Ends the lead of a task, if this node has it.
-- ARGV     node, task
-- returns  nothing
local lock = 'task/' .. ARGV[2]
local owner = owner_of(lock)
if owner and string.sub(owner, 1, #ARGV[1] + 1) == ARGV[1] .. ':' then
  redis.call('HDEL', base .. 'h', lock)
  redis.call('HDEL', base .. 'lead-ends', ARGV[2])
end
