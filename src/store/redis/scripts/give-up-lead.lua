#!lua flags=allow-oom
-- KEYS[1]  head of the partition
-- ARGV     node, task: free for another node if it was this one that led it
-- returns  nothing
local lead = base .. 'lead:' .. ARGV[2]
local leader = redis.call('GET', lead)
if leader and string.sub(leader, 1, #ARGV[1] + 1) == ARGV[1] .. ':' then redis.call('DEL', lead) end
