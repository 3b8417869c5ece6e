#!lua flags=allow-oom
-- Puts documents if others are what they were when they were read. Out of memory, too: they are small, and it may be they
-- that make room (the registry's, when a thing is removed).
--
-- KEYS[1]  head of the partition
-- ARGV     node, how many were read; each: name, JSON or empty. Then those to put; each: name, JSON or empty to remove
-- returns  1; 0 if one of those that were read has changed: nothing was put
local put_from = 3 + 2 * tonumber(ARGV[2])

for at = 3, put_from - 1, 2 do
  if (redis.call('HGET', base .. 'o', ARGV[at]) or '') ~= ARGV[at + 1] then return 0 end
end
local documents = {}
for at = put_from, #ARGV do documents[#documents + 1] = ARGV[at] end
local told = put_documents(documents)
if #told > 0 then
  local number = write_number_after(newest_write_number())
  redis.call('HSET', KEYS[1], 'number', text(number))
  append_to_log(number, { 'o', ARGV[1], 'd', cjson.encode(told) }, true)
end
return 1
