#!lua flags=allow-oom
-- Says that a node is there, and forgets those that have not said so in time.
--
-- KEYS[1]  head of the partition
-- ARGV     node, for how long it is to be held for alive (ms)
-- returns  nothing
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', base .. 'nodes', '-inf', now)
redis.call('ZADD', base .. 'nodes', now + tonumber(ARGV[2]), ARGV[1])
