#!lua flags=no-writes
-- ARGV     how long a node counts as alive after a heartbeat (ms)
-- returns  the nodes that count as alive
local now = math.floor(time_now() / 1000)
return redis.call('ZRANGE', base .. 'nodes', '(' .. text(now - time_away(now, ARGV[1])), '+inf', 'BYSCORE')
