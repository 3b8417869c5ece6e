#!lua flags=no-writes
-- KEYS[1]  head of the store
-- ARGV     for how long a node is held for alive that has said that it is there (ms)
-- returns  the nodes that are held for alive
local now = math.floor(time_now() / 1000)
return redis.call('ZRANGE', base .. 'nodes', '(' .. text(now - time_away(now, ARGV[1])), '+inf', 'BYSCORE')
