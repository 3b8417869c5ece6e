#!lua flags=no-writes
-- KEYS[1]  head of the partition
-- returns  the nodes that are held for alive
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGE', base .. 'nodes', '(' .. now, '+inf', 'BYSCORE')
