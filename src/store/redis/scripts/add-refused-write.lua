#!lua
-- Keeps a refused write of a thing, drops the oldest if there are too many, and notifies other nodes.
-- ARGV     node, thing id, JSON, how many to keep
-- returns  nothing
local node, thing, json = ARGV[1], ARGV[2], ARGV[3]
local refused = base .. 'e:' .. thing
redis.call('LPUSH', refused, json)
redis.call('LTRIM', refused, 0, tonumber(ARGV[4]) - 1)
local number = write_number_after(newest_write_number())
redis.call('HSET', KEYS[1], 'number', text(number))
append_to_log(number, { 't', thing, 'e', json, 'o', node }, true)
