#!lua flags=allow-oom
-- Removes resources of a thing, a piece at a time; with the last piece, all else but its log entries. Redis frees what is
-- unlinked in a thread of its own.
--
-- KEYS[1] head
-- ARGV[1] thing id
--
-- Returns 1 while there is more.
local thing = ARGV[1]
local resources = base .. 'k:' .. thing
local states = base .. 's:' .. thing

local at_once = 200

local keys = redis.call('ZRANGE', resources, 0, at_once - 1)
for _, key in ipairs(keys) do
  local of_resource = thing .. ':' .. key
  redis.call('UNLINK', base .. 'r:' .. of_resource, base .. 'd:' .. of_resource)
  -- Under a magic key it means the state, which goes too.
  redis.call('ZREM', base .. 'b:' .. key, thing)
end
if #keys > 0 then redis.call('ZREM', resources, unpack(keys)) end
if #keys == at_once then return 1 end

-- As many as there are magic resources with a state: a few.
for _, key in ipairs(redis.call('HKEYS', states)) do
  redis.call('ZREM', base .. 'b:' .. key, thing)
end
redis.call('ZREM', base .. 'a', thing)
redis.call('UNLINK', states, base .. 'x:' .. thing, base .. 'i:' .. thing, base .. 'j:' .. thing, base .. 'e:' .. thing)
return 0
