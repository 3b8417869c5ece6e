#!lua
-- Claims a store in which nothing is for a migration. Write numbers of what is moved become `offset` + 16 times the number,
-- so that the newest is of this moment and all that is given out later comes behind it.
--
-- KEYS[1]  head of the store
-- ARGV     fingerprint of what is moved, its newest write number, its newest receipt time (ms)
-- returns  the fields and values of `meta` then; none where something else is there
local meta = base .. 'meta'

local function is_there(names)
  for _, name in ipairs(names) do
    if redis.call('EXISTS', base .. name) == 1 then return true end
  end
  return false
end

-- `nodes` is there while servers are, even if all else was just removed under them.
if not is_there({ 'meta', 'head', 'log', 'a', 'o', 'n', 'nodes' }) then
  local newest = text(write_number_after(0))
  redis.call('HSET', meta, 'migration', ARGV[1], 'offset', text(newest - 16 * ARGV[2]))
  -- Not every commit is in the log that is moved: nobody is to go on behind one of these as if it were.
  redis.call('HSET', KEYS[1], 'number', newest, 'receipt', ARGV[3], 'trimmed', newest)
end
return redis.call('HGETALL', meta)
