#!lua flags=no-writes
-- Reads on in the records of one resource: at most 500 of them, or until they reach 256 KiB.
--
-- KEYS[1]  head of the store
-- ARGV     thing id, key, `asc` or `desc`,
--          first datetime (ms) or empty, datetime behind the last (ms) or empty,
--          how many records are wanted,
--          a write number: records of newer writes are passed over; empty: none is,
--          and, to go on, the position behind which to: datetime (6 bytes), write number (7), place (2)
-- returns  nothing if nothing was ever stored under the key; else
--          newest write number; list of records (datetime in 6 bytes, member); and, if there is more, the position
--          up to which records were looked at
local thing, key, order = ARGV[1], ARGV[2], ARGV[3]
local from, to = ARGV[4], ARGV[5]
local wanted = tonumber(ARGV[6])
local position = ARGV[8]

local most_records, most_bytes, most_at_once = 500, 262144, 64
local position_length = 15

local records_key = base .. 'r:' .. thing .. ':' .. key
local newest = newest_write_number()
local as_of = tonumber(ARGV[7]) or newest

local function how_many(minimum, maximum)
  return redis.call('ZCOUNT', records_key, minimum, maximum)
end

-- How many records stand before the position; the one at the position is counted if `inclusive`. Among the records of
-- one datetime it is a binary search. Heads of members are compared as numbers: how Lua compares strings depends on the
-- locale of the server.
local function rank_of(wanted_position, inclusive)
  local datetime, number, place = struct.unpack('>I6I7I2', wanted_position)
  local low = how_many('-inf', '(' .. text(datetime))
  local high = low + how_many(text(datetime), text(datetime))
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', records_key, middle, middle)[1]
    local its_number, its_place = struct.unpack('>I7I2', member)
    local is_before = its_number < number or (its_number == number and its_place < place)
    if is_before or (inclusive and its_number == number and its_place == place) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

local count = redis.call('ZCARD', records_key)
if count == 0 and redis.call('SISMEMBER', base .. 'x:' .. thing, key) == 0 then return false end

-- Ranks in ascending order, both inclusive.
local first = from == '' and 0 or how_many('-inf', '(' .. from)
local last = (to == '' and count or how_many('-inf', '(' .. to)) - 1
if position and order == 'asc' then
  first = math.max(first, rank_of(position, true))
elseif position then
  last = math.min(last, rank_of(position, false) - 1)
end

-- The next records to look at, with their datetimes.
local function look(size)
  if order == 'asc' then return redis.call('ZRANGE', records_key, first, first + size - 1, 'WITHSCORES') end
  return redis.call('ZRANGE', records_key, count - 1 - last, count - 2 - last + size, 'REV', 'WITHSCORES')
end

local found, bytes, looked_at, reached = {}, 0, 0, nil
local size = math.min(wanted, 4)
while first <= last and #found < wanted and looked_at < most_records and bytes < most_bytes do
  local members = look(math.min(size, last - first + 1))
  for index = 1, #members, 2 do
    local record = struct.pack('>I6', members[index + 1]) .. members[index]
    looked_at = looked_at + 1
    bytes = bytes + #record
    reached = string.sub(record, 1, position_length)
    if struct.unpack('>I7', members[index]) <= as_of then found[#found + 1] = record end
    if order == 'asc' then first = first + 1 else last = last - 1 end
    if #found == wanted or looked_at == most_records or bytes >= most_bytes then break end
  end
  -- Not many more than there is room for, if those to come are as large as those before.
  size = math.min(size * 2, most_at_once, math.max(1, math.ceil((most_bytes - bytes) * looked_at / bytes)))
end

-- A list ends at its first nil.
return { newest, found, first <= last and reached or nil }
