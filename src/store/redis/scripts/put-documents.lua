#!lua flags=allow-oom
-- Puts documents if the documents that were read have not changed. Also runs when Redis is out of memory: documents are small, and
-- a put may free memory, for example when it removes a thing from the registry.
-- ARGV     name of the node, number of the write, its deadline (microseconds), number of documents that were read; each: name,
--          JSON or empty. Then the documents to put; each: name, JSON or empty to remove
-- returns  the time (microseconds); nothing more if the write is late or was cancelled. Else 1 if it is done, also before;
--          0 if a document that was read has changed: nothing was put
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
