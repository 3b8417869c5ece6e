#!lua flags=no-writes
-- Reads the next latest records as of a write number: at most 256 resources, or until they reach 256 KiB.
-- ARGV     write number; the selection, and after which resource to begin:
--            `resource`, thing id, key
--            `key`, thing id after which to begin or empty, key: that resource of every thing
--            `thing`, thing id, key after which to begin or empty: every resource of that thing
--            `everything`, thing id and key of the resource after which to begin, or both empty
-- returns  newest write number; list of thing id, key and latest record in the form of a state, three for each
--          resource; the record is empty if so many records are newer that the caller has to search for it;
--          and, if there are more resources, thing id and key of the last resource that was read
-- The latest record of a magic resource is its state. States and records that are newer than the write number are left out:
-- the log has the states and the newest records that were replaced or removed since.
local as_of, selected = tonumber(ARGV[1]), ARGV[2]
-- The last resource that was looked at.
local thing, key = ARGV[3], ARGV[4]

local most_resources, most_bytes, most_newer, most_at_once = 256, 262144, 63, 64
-- First byte of the name of a magic resource, and the start of the range of the names of ordinary resources.
local magic, ordinary = 36, '[%'

local found, bytes, looked_at = {}, 0, 0
local function is_full()
  return looked_at >= most_resources or bytes >= most_bytes
end

-- The newest record up to `as_of`, in the form of a state; empty if too many records are newer; nil if there is none. First reads
-- only one record, which is usually the wanted record.
local function newest_record(records_key)
  local start, size = 0, 1
  repeat
    local members = redis.call('ZRANGE', records_key, start, start + size - 1, 'REV', 'WITHSCORES')
    for index = 1, #members, 2 do
      local member = members[index]
      bytes = bytes + #member
      if struct.unpack('>I7', member) <= as_of then
        return string.sub(member, 1, 7) .. struct.pack('>I6', members[index + 1]) .. string.sub(member, 10)
      end
    end
    if #members < 2 * size then return nil end
    start, size = start + size, size * 2
    looked_at = looked_at + size
  until start >= most_newer or is_full()
  return ''
end

local function state(states_key, name)
  local there = redis.call('HGET', states_key, name)
  if not there then return nil end
  bytes = bytes + #there
  return struct.unpack('>I7', there) <= as_of and there or nil
end

local function is_magic(name)
  return string.byte(name) == magic
end

local function look(its_thing, its_key)
  thing, key = its_thing, its_key
  looked_at = looked_at + 1
  local latest
  if is_magic(key) then
    latest = state(base .. 's:' .. thing, key)
  else
    latest = newest_record(base .. 'r:' .. thing .. ':' .. key)
  end
  if not latest then return end
  found[#found + 1] = thing
  found[#found + 1] = key
  found[#found + 1] = latest
end

-- Compares bytes: the comparison of strings in Lua depends on the locale of the server.
local function precedes(one, other)
  for index = 1, math.min(#one, #other) do
    local difference = string.byte(one, index) - string.byte(other, index)
    if difference ~= 0 then return difference < 0 end
  end
  return #one < #other
end

-- Calls `look_at` with each name of a sorted set, in order. Returns whether it reached the end.
local function each_name(names_key, from, look_at)
  while true do
    if is_full() then return false end
    local names = redis.call('ZRANGE', names_key, from, '+', 'BYLEX', 'LIMIT', 0, most_at_once)
    for _, name in ipairs(names) do
      if is_full() then return false end
      if look_at(name) == false then return false end
      from = '(' .. name
    end
    if #names < most_at_once then return true end
  end
end

-- Looks at the resources after the key `behind`. Returns whether it reached the last resource.
local function look_at_thing(its_thing, behind)
  if behind == '' or is_magic(behind) then
    local names = redis.call('HKEYS', base .. 's:' .. its_thing)
    table.sort(names, precedes)
    for _, name in ipairs(names) do
      if precedes(behind, name) then
        if is_full() then return false end
        look(its_thing, name)
      end
    end
    behind = ''
  end
  local from = behind == '' and ordinary or '(' .. behind
  return each_name(base .. 'k:' .. its_thing, from, function(name)
    look(its_thing, name)
  end)
end

local function look_at_everything()
  local from = '-'
  if thing ~= '' then
    if not look_at_thing(thing, key) then return false end
    from = '(' .. thing
  end
  return each_name(base .. 'a', from, function(name)
    thing, key = name, ''
    looked_at = looked_at + 1
    return look_at_thing(name, '')
  end)
end

local is_all = true
if selected == 'resource' then
  look(thing, key)
elseif selected == 'key' then
  local its_key = key
  is_all = each_name(base .. 'b:' .. its_key, thing == '' and '-' or '(' .. thing, function(name)
    look(name, its_key)
  end)
elseif selected == 'thing' then
  is_all = look_at_thing(thing, key)
else
  is_all = look_at_everything()
end

local newest = newest_write_number()
if is_all then return { newest, found } end
return { newest, found, thing, key }
