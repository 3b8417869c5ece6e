#!lua flags=allow-oom
-- Puts documents if others are what they were when they were read. Out of memory, too: they are small, and it may be they
-- that make room (the registry's, when a thing is removed).
--
-- KEYS[1]  head of the store
-- ARGV     name of the node, number of the write, until when it counts (microseconds), how many were read; each: name, JSON or
--          empty. Then those to put; each: name, JSON or empty to remove
-- returns  the time (microseconds); nothing more if it comes too late, or was given up. Else 1, as then if it was done before;
--          0 if one of those that were read has changed: nothing was put
local node, write = ARGV[1], ARGV[2]
local put_from = 5 + 2 * tonumber(ARGV[4])

local time, is_void, known_reply = begin_write(node, write, ARGV[3])
if is_void then return { time, known_reply } end

for at = 5, put_from - 1, 2 do
  if (redis.call('HGET', base .. 'o', ARGV[at]) or '') ~= ARGV[at + 1] then return { time, 0 } end
end
local documents = {}
for at = put_from, #ARGV do documents[#documents + 1] = ARGV[at] end
local names = put_documents(documents)
if #names > 0 then
  local number = write_number_after(newest_write_number())
  redis.call('HSET', KEYS[1], 'number', text(number))
  append_to_log(number, { 'o', node, 'd', cjson.encode(names) }, true)
end
keep_reply(node, write, 1)
return { time, 1 }
