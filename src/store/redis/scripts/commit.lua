#!lua
-- Commits a group of writes and puts of one node: all of it or, if Redis is out of memory, nothing.
-- ARGV     name of the node, number of the group, its deadline (microseconds), newest write number that the node has
--          read from the log, how many write ids of a thing are remembered and for how long (ms), how many records of one
--          datetime are compared one by one, number of items;
--          then each item, by its kind:
--            `take`: name and owner of a lock, `any`, or `from` and the owner that may have it, empty for a free lock
--            `release`: name and owner of a lock
--            `put` or `write`: name and owner of the lock that it names, or two empty strings;
--              only `write`: thing id, `stored` or empty, `broadcast` or empty, digest of the write id or empty, answer (JSON),
--                most resources of the thing or empty
--                number of records; each: key, datetime (ms) or empty, place (2 bytes), payload, JSON for the log
--                number of states; each: key, datetime (6 bytes) and payload or empty, JSON for the log
--              number of documents; each: name, JSON or empty
-- returns  only the time (microseconds) if the group is not committed because it is late or was cancelled. Else the time and two
--          lists. The first list has two values for each item. The first value is the write number: 0 if the item has none or
--          repeats an id, -1 if it makes too many resources, -2 if its lock is lost or another owner has the lock to take.
--          The second value is the answer of the first write with the id, or the previous owner of a taken lock, or empty.
--          The second list has the next entries of the log for the node, usually up to the entries of this group;
--          it is empty if there may be a gap. Consecutive entries that are only commits are one text, with one line for each
--          entry: id, thing id and `c`, separated by spaces. If the group was committed before, the reply is the first reply,
--          without the second list.
-- Maximum number of entries in a reply, in addition to twice the number of items of the group.
local more_entries = 500
-- Maximum bytes of these entries. The node itself reads the other entries.
local most_bytes = 16 * 1024 * 1024
local magic_sign = string.byte('$')

local at = 0
local function argument()
  at = at + 1
  return ARGV[at]
end
local function count()
  return tonumber(argument())
end

local node, group = argument(), argument()
local time, is_void, known_reply = begin_write(node, group, argument())
if is_void then return { time, known_reply } end
local newest_read = count()
local remembered, remembered_for, compared = count(), count(), count()

local newest = newest_write_number()
-- Receipt time of every write of the group (contract 4.5).
local receipt, is_given = math.max(math.floor(time / 1000), newest_receipt()), false

-- Newest datetime of each resource to which the group writes, by the name of its sorted set; -1 for a new resource.
local newest_datetimes = {}
local function newest_datetime(records_key)
  local known = newest_datetimes[records_key]
  if known then return known end
  local last = redis.call('ZRANGE', records_key, -1, -1, 'WITHSCORES')
  known = last[2] and tonumber(last[2]) or -1
  newest_datetimes[records_key] = known
  return known
end

local function is_same(member, payload, wanted)
  local stored = string.sub(member, 10)
  return stored == payload or (string.byte(payload) >= 4 and identity(stored) == wanted)
end

-- Returns whether a measurement is already stored, and the entry that it adds to the crowd of its datetime, or nil.
local function look(records_key, crowd_key, datetime, payload, explicit)
  if tonumber(datetime) > newest_datetime(records_key) then return false, nil end
  local there = redis.call('ZCOUNT', records_key, datetime, datetime)
  if there == 0 then return false, nil end
  local wanted = identity(payload)
  if explicit then
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', records_key, datetime, datetime, 'LIMIT', 0, compared)) do
      if is_same(member, payload, wanted) then return true, nil end
    end
  end
  if there < compared then return false, nil end
  local entry = struct.pack('>I6', datetime) .. wanted
  return explicit and redis.call('ZSCORE', crowd_key, entry) ~= false, entry
end

local function add_resource(thing, key)
  if redis.call('ZADD', base .. 'k:' .. thing, 0, key) == 0 then return end
  redis.call('SREM', base .. 'x:' .. thing, key)
  redis.call('ZADD', base .. 'a', 0, thing)
  if string.byte(key) ~= magic_sign then redis.call('ZADD', base .. 'b:' .. key, 0, thing) end
end

local function add_record(thing, number, record)
  local name = thing .. ':' .. record.key
  local records_key, crowd_key = base .. 'r:' .. name, base .. 'd:' .. name
  local is_stored, crowd_entry = look(records_key, crowd_key, record.datetime, record.payload, record.explicit)
  if is_stored then return false end
  if newest_datetime(records_key) == -1 then add_resource(thing, record.key) end
  local member = struct.pack('>I7', number) .. record.place .. record.payload
  redis.call('ZADD', records_key, record.datetime, member)
  if crowd_entry then redis.call('ZADD', crowd_key, record.datetime, crowd_entry) end
  newest_datetimes[records_key] = math.max(newest_datetime(records_key), tonumber(record.datetime))
  return true
end

-- Returns the state before, or an empty string.
local function put_state(thing, number, key, state)
  local states_key = base .. 's:' .. thing
  local before = redis.call('HGET', states_key, key)
  if state == '' then
    redis.call('HDEL', states_key, key)
    redis.call('ZREM', base .. 'b:' .. key, thing)
  else
    redis.call('HSET', states_key, key, struct.pack('>I7', number) .. state)
    redis.call('ZADD', base .. 'b:' .. key, 0, thing)
    redis.call('ZADD', base .. 'a', 0, thing)
  end
  return before or ''
end

-- The answer of an earlier write with this id.
local function first_answer(thing, digest)
  local ids_key = base .. 'i:' .. thing
  local known = redis.call('HGET', ids_key, digest)
  if not known then return nil end
  local ordinal, received, answer = string.match(known, '^(%d+):(%d+):(.*)$')
  local newest_ordinal = tonumber(redis.call('HGET', ids_key, '#'))
  local is_forgotten = tonumber(ordinal) <= newest_ordinal - remembered
    or tonumber(received) < receipt - remembered_for
  return not is_forgotten and answer or nil
end

local function take_id(thing, digest, answer)
  local ids_key, order_key = base .. 'i:' .. thing, base .. 'j:' .. thing
  local ordinal = redis.call('HINCRBY', ids_key, '#', 1)
  redis.call('HSET', ids_key, digest, text(ordinal) .. ':' .. text(receipt) .. ':' .. answer)
  redis.call('ZADD', order_key, ordinal, digest)
  if redis.call('ZCARD', order_key) > remembered then
    redis.call('HDEL', ids_key, redis.call('ZPOPMIN', order_key)[1])
  end
end

local function makes_too_many(write)
  if write.maximum == '' or not write.stored then return false end
  local resources_key = base .. 'k:' .. write.thing
  local added, more = {}, 0
  for _, record in ipairs(write.records) do
    if not added[record.key] and not redis.call('ZSCORE', resources_key, record.key) then
      added[record.key] = true
      more = more + 1
    end
  end
  return more > 0 and redis.call('ZCARD', resources_key) + more > tonumber(write.maximum)
end

local function read_write()
  local write = { thing = argument() }
  write.stored, write.broadcast = argument() ~= '', argument() ~= ''
  write.digest, write.answer = argument(), argument()
  write.maximum, write.records, write.states = argument(), {}, {}
  for index = 1, count() do
    local key, datetime = argument(), argument()
    local explicit = datetime ~= ''
    write.records[index] = {
      key = key,
      datetime = explicit and datetime or text(receipt),
      explicit = explicit,
      place = argument(),
      payload = argument(),
      json = argument(),
    }
  end
  for index = 1, count() do
    write.states[index] = { key = argument(), state = argument(), json = argument() }
  end
  return write
end

local function next_number()
  newest = write_number_after(newest)
  return newest
end

-- Returns the write number, the entry in the log, and whether the entry is only for followers.
local function commit(write)
  local number = next_number()
  is_given = true
  local added, latest, undo, has_magic = {}, {}, {}, false
  for _, record in ipairs(write.records) do
    if not write.stored or add_record(write.thing, number, record) then
      added[#added + 1] = record.json
      has_magic = has_magic or string.byte(record.key) == magic_sign
    end
  end
  for _, state in ipairs(write.states) do
    latest[#latest + 1] = state.json
    if write.stored then
      local before = put_state(write.thing, number, state.key, state.state)
      for _, field in ipairs({ 'u', state.key, 'v', before }) do undo[#undo + 1] = field end
    end
  end
  if write.digest ~= '' then take_id(write.thing, write.digest, write.answer) end
  local lists = {}
  if #added > 0 then lists[1] = '"records":[' .. table.concat(added, ',') .. ']' end
  if #latest > 0 then lists[#lists + 1] = '"latest":[' .. table.concat(latest, ',') .. ']' end
  local flags = (write.broadcast and 1 or 0) + (write.stored and 2 or 0) + (has_magic and 4 or 0)
  local text = string.format(
    '%s %s %d %d {%s}',
    node,
    text(receipt),
    flags,
    #added,
    table.concat(lists, ',')
  )
  local entry = { 't', write.thing, 'c', text }
  for _, field in ipairs(undo) do entry[#entry + 1] = field end
  return number, entry, not write.stored or (#added == 0 and #latest == 0)
end

local function read_documents()
  local documents = {}
  for index = 1, 2 * count() do documents[index] = argument() end
  return documents
end

local function entries_behind(number, most)
  local log, id = base .. 'log', text(number) .. '-0'
  local trimmed = tonumber(redis.call('HGET', KEYS[1], 'trimmed') or '0')
  if trimmed > number or #redis.call('XRANGE', log, id, id) == 0 then return {} end
  local parts, lines, bytes = {}, {}, 0
  local function end_lines()
    if #lines > 0 then parts[#parts + 1] = table.concat(lines, '\n') end
    lines = {}
  end
  for _, entry in ipairs(redis.call('XRANGE', log, '(' .. id, '+', 'COUNT', most)) do
    local fields = entry[2]
    bytes = bytes + #(fields[4] or '')
    if #fields == 4 and fields[3] == 'c' then
      lines[#lines + 1] = entry[1] .. ' ' .. fields[2] .. ' ' .. fields[4]
    else
      end_lines()
      parts[#parts + 1] = entry
    end
    if bytes > most_bytes then break end
  end
  end_lines()
  return parts
end

local function read_lock()
  return { name = argument(), owner = argument() }
end

-- Returns the write number (-2 if another owner keeps the lock) and the previous owner, whose node learns of this from the log.
local function take_hold()
  local lock, way, from = read_lock(), argument(), nil
  if way == 'from' then from = argument() end
  local before = owner_of(lock.name) or ''
  if from and before ~= '' and before ~= from then return -2, before end
  redis.call('HSET', base .. 'h', lock.name, lock.owner)
  append_to_log(next_number(), { 'o', node, 'h', lock.owner .. ' ' .. lock.name }, true)
  return newest, before
end

local function release_hold()
  local lock = read_lock()
  if owner_of(lock.name) == lock.owner then redis.call('HDEL', base .. 'h', lock.name) end
  return 0, ''
end

-- Returns the write number, the answer of an earlier write with the id, and the last two results of `commit`.
local function decide(write)
  local first = write.digest ~= '' and first_answer(write.thing, write.digest)
  if first then return 0, first end
  if makes_too_many(write) then return -1, '' end
  local number, entry, passing = commit(write)
  return number, '', entry, passing
end

local function change(kind)
  local lock = read_lock()
  local write = kind == 'write' and read_write()
  local documents = read_documents()
  if not is_held(lock.name, lock.owner) then return -2, '' end
  local number, answer, entry, passing = 0, '', nil, nil
  if write then number, answer, entry, passing = decide(write) end
  local names = number >= 0 and put_documents(documents) or {}
  if #names > 0 then
    if not entry then entry, passing = { 'o', node }, true end
    entry[#entry + 1] = 'd'
    entry[#entry + 1] = cjson.encode(names)
  end
  if entry then append_to_log(number > 0 and number or next_number(), entry, passing) end
  return number, answer
end

local reply = {}
local items = count()
for _ = 1, items do
  local kind = argument()
  local number, answer
  if kind == 'take' then
    number, answer = take_hold()
  elseif kind == 'release' then
    number, answer = release_hold()
  else
    number, answer = change(kind)
  end
  reply[#reply + 1] = number
  reply[#reply + 1] = answer
end
redis.call('HSET', KEYS[1], 'number', text(newest))
if is_given then redis.call('HSET', KEYS[1], 'receipt', text(receipt)) end
keep_reply(node, group, reply)
return { time, reply, entries_behind(newest_read, 2 * items + more_entries) }
