#!lua flags=no-writes
-- Reads entries of the commit log, as many as one reply may hold.
--
-- KEYS[1] head
-- ARGV[1] XRANGE or XREVRANGE
-- ARGV[2] id where to begin, as the command takes it
-- ARGV[3] id where to end
-- ARGV[4] most entries
-- ARGV[5] bytes of fields with which the reply ends
--
-- Returns the entries, as the command gives them, and the id where to go on, '' if there is nothing more.
local command, from, to = ARGV[1], ARGV[2], ARGV[3]
local most_entries, most_bytes = tonumber(ARGV[4]), tonumber(ARGV[5])

local entries, bytes = {}, 0
-- Grows, so that what is large is not read by the dozen.
local at_once = 4
while from ~= '' and #entries < most_entries and bytes < most_bytes do
  local count = math.min(at_once, most_entries - #entries)
  local found = redis.call(command, base .. 'log', from, to, 'COUNT', count)
  for _, entry in ipairs(found) do
    entries[#entries + 1] = entry
    for _, field in ipairs(entry[2]) do bytes = bytes + #field end
  end
  from = #found == count and '(' .. found[count][1] or ''
  at_once = math.min(2 * at_once, 64)
end
return { entries, from }
