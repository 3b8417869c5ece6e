#!lua
-- Writes down what a new store is made with. Gives a store of an older format, whose entries are all read by this version, that of
-- this one, unless a node uses it: only one of an older version does, and it would not read the entries to come.
--
-- KEYS[1]  head of the store
-- ARGV     format of this version, the older format, number of partitions
-- returns  `taken` if the store had the older format and has this one now, `old` if it is older than that, though its number is the
--          same, `used` if a node uses it, else an empty string; then the fields and values of `meta`
local meta, format, older = base .. 'meta', ARGV[1], ARGV[2]

-- The oldest stores have JSON where others have the name of a node.
local function is_oldest()
  local from = '-'
  while true do
    local entries = redis.call('XRANGE', base .. 'log', from, '+', 'COUNT', 100)
    for _, entry in ipairs(entries) do
      local fields = entry[2]
      if fields[3] == 'c' then return string.sub(fields[4], 1, 1) == '{' end
    end
    if #entries == 0 then return false end
    from = '(' .. entries[#entries][1]
  end
end

-- By when each counts as dead, without the time for which Redis was away: all of them may have ended together.
local function is_used()
  return redis.call('ZCOUNT', base .. 'nodes', '(' .. text(math.floor(time_now() / 1000)), '+inf') > 0
end

local function open()
  local stored, migration = unpack(redis.call('HMGET', meta, 'format', 'migration'))
  if migration or (stored and stored ~= older) then return '' end
  if stored and redis.call('HGET', meta, 'partitions') ~= ARGV[3] then return '' end
  if stored and is_oldest() then return 'old' end
  if stored and is_used() then return 'used' end
  redis.call('HSET', meta, 'format', format, 'partitions', ARGV[3])
  return stored and 'taken' or ''
end

local outcome = open()
return { outcome, redis.call('HGETALL', meta) }
