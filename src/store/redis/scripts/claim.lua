#!lua
-- Claims an empty store for a migration. A moved write number becomes `offset` + 16 times the number. So the newest moved number
-- is the number of this moment, and all numbers that are assigned later are higher.
-- ARGV     fingerprint of the source, its newest write number, its newest receipt time (ms)
-- returns  the fields and values of `meta`; none if the store has other data
local meta = base .. 'meta'

local function is_there(names)
  for _, name in ipairs(names) do
    if redis.call('EXISTS', base .. name) == 1 then return true end
  end
  return false
end

-- `nodes` exists while servers run, even if all other keys were just removed.
if not is_there({ 'meta', 'head', 'log', 'a', 'o', 'n', 'nodes' }) then
  local newest = text(write_number_after(0))
  redis.call('HSET', meta, 'migration', ARGV[1], 'offset', text(newest - 16 * ARGV[2]))
  -- The moved log does not have every commit. `trimmed` prevents followers from reading on after a moved commit.
  redis.call('HSET', KEYS[1], 'number', newest, 'receipt', ARGV[3], 'trimmed', newest)
end
return redis.call('HGETALL', meta)
