#!lua flags=no-writes
-- Lists documents by name, as of one moment.
-- ARGV     first and last name in the form of ZRANGEBYLEX; most documents
-- returns  names and JSON in turn
local read_at_once = 1000

local names = redis.call('ZRANGEBYLEX', base .. 'n', ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
local found = {}
for first = 1, #names, read_at_once do
  local texts = redis.call('HMGET', base .. 'o', unpack(names, first, math.min(#names, first + read_at_once - 1)))
  for index, text_of_document in ipairs(texts) do
    found[#found + 1] = names[first + index - 1]
    found[#found + 1] = text_of_document
  end
end
return found
