-- Functions for scripts that read the records of one resource in order, inserted after lib.lua.
--
-- ARGV     begins with thing id, key, `asc` or `desc`,
--          first datetime (ms) or empty, datetime after the last (ms) or empty
local thing, key, order = ARGV[1], ARGV[2], ARGV[3]
local from, to = ARGV[4], ARGV[5]
local records_key = base .. 'r:' .. thing .. ':' .. key
-- The position of a record is datetime (6 bytes), write number (7), place (2).
local position_length = 15
local most_at_once = 64

local function how_many(minimum, maximum)
  return redis.call('ZCOUNT', records_key, minimum, maximum)
end

-- Number of records before the position, or up to the position if `inclusive`. Uses a binary search among the records of its
-- datetime. Heads of members are compared as numbers: the comparison of strings in Lua depends on the locale of the server.
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

-- Whether anything was ever stored under the key.
local function is_known()
  return redis.call('ZCARD', records_key) > 0 or redis.call('SISMEMBER', base .. 'x:' .. thing, key) == 1
end

-- Reads records after `position`, or from the first record if `position` is nil or empty. Reads `size` records in the first
-- command. Stops after `most_records` records, at `most_bytes`, or when `take` returns true. Calls `take` with the datetime (as
-- text) and the member of each record.
--
-- Returns the position of the last record that was read, if there are more records.
local function read_on(position, size, most_records, most_bytes, take)
  local count = redis.call('ZCARD', records_key)
  -- Ranks in ascending order, both inclusive.
  local first = from == '' and 0 or how_many('-inf', '(' .. from)
  local last = (to == '' and count or how_many('-inf', '(' .. to)) - 1
  local goes_on = position and position ~= ''
  if goes_on and order == 'asc' then
    first = math.max(first, rank_of(position, true))
  elseif goes_on then
    last = math.min(last, rank_of(position, false) - 1)
  end

  -- The next records with their datetimes.
  local function look(size)
    if order == 'asc' then return redis.call('ZRANGE', records_key, first, first + size - 1, 'WITHSCORES') end
    return redis.call('ZRANGE', records_key, count - 1 - last, count - 2 - last + size, 'REV', 'WITHSCORES')
  end

  local bytes, looked_at, datetime, member, is_last = 0, 0, nil, nil, false
  while first <= last and not is_last do
    local found = look(math.min(size, last - first + 1))
    for index = 1, #found, 2 do
      member, datetime = found[index], found[index + 1]
      looked_at = looked_at + 1
      bytes = bytes + 6 + #member
      is_last = take(datetime, member) or looked_at == most_records or bytes >= most_bytes
      if order == 'asc' then first = first + 1 else last = last - 1 end
      if is_last then break end
    end
    -- About as many records as still fit, if the next records are as large as the records so far.
    size = math.min(size * 2, most_at_once, math.max(1, math.ceil((most_bytes - bytes) * looked_at / bytes)))
  end
  if first > last then return nil end
  return struct.pack('>I6', datetime) .. string.sub(member, 1, position_length - 6)
end
