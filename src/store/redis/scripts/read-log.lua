#!lua flags=no-writes
-- Reads a piece of the commit log.
-- ARGV     XRANGE or XREVRANGE, first and last id in the form of the command, most entries, bytes of fields that end the piece
-- returns  the entries in the form of the command; the first id of the next piece, empty if there is none
local command, from, to = ARGV[1], ARGV[2], ARGV[3]
local most_entries, most_bytes = tonumber(ARGV[4]), tonumber(ARGV[5])

local entries, bytes = {}, 0
-- Begins small, since entries may be large.
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
