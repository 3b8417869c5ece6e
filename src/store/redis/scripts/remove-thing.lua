#!lua flags=allow-oom
-- Removes some resources of a thing. With the last resource, removes all other data of the thing, except log entries. Redis frees
-- the memory of unlinked keys in a separate thread.
-- ARGV     thing id
-- returns  1 if there is more
local thing = ARGV[1]
local resources = base .. 'k:' .. thing
local states = base .. 's:' .. thing

local at_once = 200

local keys = redis.call('ZRANGE', resources, 0, at_once - 1)
for _, key in ipairs(keys) do
  local of_resource = thing .. ':' .. key
  redis.call('UNLINK', base .. 'r:' .. of_resource, base .. 'd:' .. of_resource)
  -- For a magic key this entry stands for the state, which is removed below.
  redis.call('ZREM', base .. 'b:' .. key, thing)
end
if #keys > 0 then redis.call('ZREM', resources, unpack(keys)) end
if #keys == at_once then return 1 end

-- All at once: a thing has few states.
for _, key in ipairs(redis.call('HKEYS', states)) do
  redis.call('ZREM', base .. 'b:' .. key, thing)
end
redis.call('ZREM', base .. 'a', thing)
redis.call('UNLINK', states, base .. 'x:' .. thing, base .. 'i:' .. thing, base .. 'j:' .. thing, base .. 'e:' .. thing)
return 0
