#!lua
-- Creates the format of a new store. Upgrades a store of an older format that this version reads, unless a node uses the store:
-- that node has an older version, and could not read new entries.
-- ARGV     format of this version, number of partitions, the older formats
-- returns  `taken <format>` if the store of that format was upgraded, `old` if it has the oldest format, whose number is also 1,
--          `used` if a node uses it, else an empty string; then the fields and values of `meta`
local meta, format, partitions = base .. 'meta', ARGV[1], ARGV[2]
local older = {}
for place = 3, #ARGV do older[ARGV[place]] = true end

-- In the oldest stores, the text of a commit begins with JSON instead of the name of a node.
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

-- Without `time_away`: if Redis was away, the nodes may have ended meanwhile.
local function is_used()
  return redis.call('ZCOUNT', base .. 'nodes', '(' .. text(math.floor(time_now() / 1000)), '+inf') > 0
end

local function open()
  local stored, migration = unpack(redis.call('HMGET', meta, 'format', 'migration'))
  if migration or (stored and not older[stored]) then return '' end
  if stored and redis.call('HGET', meta, 'partitions') ~= partitions then return '' end
  if stored and is_oldest() then return 'old' end
  if stored and is_used() then return 'used' end
  redis.call('HSET', meta, 'format', format, 'partitions', partitions)
  return stored and 'taken ' .. stored or ''
end

local outcome = open()
return { outcome, redis.call('HGETALL', meta) }
