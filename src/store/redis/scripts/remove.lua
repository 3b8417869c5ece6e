#!lua flags=allow-oom
-- Does one piece of a removal: removes records of one resource, from the oldest on. Records of one datetime are in the order of
-- their write numbers. So if one of them stays, all later records of that datetime stay, and a datetime is enough to say where
-- the next piece begins. If the newest record of an ordinary resource is removed, the removal is a commit.
-- ARGV     thing id, key, lowest datetime of the piece and highest datetime of the removal in the form of ZRANGE,
--          newest write number whose records are removed, node,
--          `keep-newest` if the newest record of the resource stays, else empty,
--          how many records of one datetime the resend check compares one by one (commit.lua),
--          name and owner of the lock that the call names, or two empty strings
-- returns  number of removed records, -1 if the lock is lost; lowest datetime of the next piece, empty if there is none;
--          write number of the commit, 0 if there is none
if not is_held(ARGV[9], ARGV[10]) then return { -1, '', 0 } end
local thing, key, from, to, last_meant = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local records = base .. 'r:' .. thing .. ':' .. key
local crowd = base .. 'd:' .. thing .. ':' .. key
local is_magic = string.sub(key, 1, 1) == '$'

local records_in_piece = 256
local bytes_in_piece = 256 * 1024
local most_at_once = 64
local compared = tonumber(ARGV[8])

local function newest_record()
  local found = redis.call('ZRANGE', records, -1, -1, 'WITHSCORES')
  return found[1], found[2]
end

local newest, newest_datetime = newest_record()
local kept = ARGV[7] == 'keep-newest' and newest

local function is_meant(member)
  return member ~= kept and struct.unpack('>I7', member) <= last_meant
end

-- In the form of a state (record-member.ts), or nothing.
local function state_of(member, datetime)
  if not member then return '' end
  return string.sub(member, 1, 7) .. struct.pack('>I6', datetime) .. string.sub(member, 10)
end

local function crowd_entry(datetime, member)
  return struct.pack('>I6', datetime) .. identity(string.sub(member, 10))
end

-- Puts back crowd entries that are needed for an equal record that stays. The records that stay are the last of their datetime.
local function put_back(datetime, gone)
  local first = redis.call('ZCOUNT', records, '-inf', '(' .. datetime) + compared
  local last = redis.call('ZCOUNT', records, '-inf', datetime) - 1
  while last >= first do
    local start = math.max(first, last - most_at_once + 1)
    local members = redis.call('ZRANGE', records, start, last)
    for place = #members, 1, -1 do
      if is_meant(members[place]) then return end
      local entry = crowd_entry(datetime, members[place])
      if gone[entry] then redis.call('ZADD', crowd, datetime, entry) end
    end
    last = start - 1
  end
end

local has_crowd = redis.call('EXISTS', crowd) == 1
local removed, seen, bytes = 0, 0, 0
local gone_of = {} -- crowd entries that were removed, by datetime
-- Begins small, since records may be large.
local at_once = 4
while from ~= '' and seen < records_in_piece and bytes < bytes_in_piece do
  local found = redis.call('ZRANGE', records, from, to, 'BYSCORE', 'LIMIT', 0, at_once, 'WITHSCORES')
  local count = #found / 2
  local rank = count > 0 and redis.call('ZRANK', records, found[1])
  local last -- end of a run of records to remove. Newest runs are removed first, so that lower ranks stay valid
  for place = count - 1, 0, -1 do
    local member, datetime = found[2 * place + 1], found[2 * place + 2]
    local goes = is_meant(member)
    if goes and not last then last = place end
    if last and (not goes or place == 0) then
      local first = goes and place or place + 1
      removed = removed + redis.call('ZREMRANGEBYRANK', records, rank + first, rank + last)
      last = nil
    end
    if goes and has_crowd then
      local entry = crowd_entry(datetime, member)
      if redis.call('ZREM', crowd, entry) == 1 then
        gone_of[datetime] = gone_of[datetime] or {}
        gone_of[datetime][entry] = true
      end
    end
    bytes = bytes + #member
  end
  seen = seen + count
  if count < at_once then
    from = ''
  elseif is_meant(found[2 * count - 1]) then
    from = found[2 * count]
  else
    from = '(' .. found[2 * count]
  end
  at_once = math.min(2 * at_once, most_at_once)
end
for datetime, gone in pairs(gone_of) do put_back(datetime, gone) end

local left, left_datetime = newest_record()
if left == newest then return { removed, from, 0 } end

if not left then
  redis.call('ZREM', base .. 'k:' .. thing, key)
  redis.call('SADD', base .. 'x:' .. thing, key)
  if not is_magic then redis.call('ZREM', base .. 'b:' .. key, thing) end
end
if is_magic then return { removed, from, 0 } end

local number = write_number_after(newest_write_number())
local receipt = redis.call('HGET', KEYS[1], 'receipt') or '0'
redis.call('HSET', KEYS[1], 'number', text(number))
append_to_log(number, {
  't', thing,
  'c', ARGV[6] .. ' ' .. receipt .. ' 3 0 {}',
  'n', key, 'v', state_of(left, left_datetime),
  'u', key, 'v', state_of(newest, newest_datetime),
})
return { removed, from, number }
