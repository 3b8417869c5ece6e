#!lua flags=allow-oom
-- Removes a thing's entries from a piece of the commit log, from the oldest on.
-- ARGV     thing id, first and last id in the form of XRANGE
-- returns  the first id of the next piece, empty if there is none
local thing, from, to = ARGV[1], ARGV[2], ARGV[3]
local log = base .. 'log'

local entries_in_piece = 256
local bytes_in_piece = 256 * 1024

local seen, bytes = 0, 0
-- Begins small, since entries may be large.
local at_once = 4
while from ~= '' and seen < entries_in_piece and bytes < bytes_in_piece do
  local entries = redis.call('XRANGE', log, from, to, 'COUNT', at_once)
  local ids = {}
  for _, entry in ipairs(entries) do
    local id, fields = entry[1], entry[2]
    if fields[1] == 't' and fields[2] == thing then ids[#ids + 1] = id end
    for _, field in ipairs(fields) do bytes = bytes + #field end
  end
  if #ids > 0 then redis.call('XDEL', log, unpack(ids)) end
  seen = seen + #entries
  from = #entries == at_once and '(' .. entries[at_once][1] or ''
  at_once = math.min(2 * at_once, 64)
end
return from
