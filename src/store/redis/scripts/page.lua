#!lua flags=no-writes
-- Reads the next records of one resource: at most 500 of them, or until they reach 256 KiB.
-- ARGV     thing id, key, `asc` or `desc`,
--          first datetime (ms) or empty, datetime after the last (ms) or empty,
--          most records,
--          a write number: records of newer writes are skipped; empty: none are,
--          and the position after which to begin, if not at the first record: datetime (6 bytes), write number (7), place (2)
-- returns  nothing if nothing was ever stored under the key; else
--          newest write number; list of records (datetime in 6 bytes, member); and, if there are more, the position
--          of the last record that was read
local wanted = tonumber(ARGV[6])
local newest = newest_write_number()
local as_of = tonumber(ARGV[7]) or newest

if not is_known() then return false end

local found = {}
local reached = read_on(ARGV[8], math.min(wanted, 4), 500, 262144, function(datetime, member)
  if struct.unpack('>I7', member) <= as_of then found[#found + 1] = struct.pack('>I6', datetime) .. member end
  return #found == wanted
end)

-- A list ends at its first nil.
return { newest, found, reached }
