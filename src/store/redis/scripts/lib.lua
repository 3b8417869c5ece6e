-- Functions for all scripts, inserted after the first line of each script.
--
-- KEYS[1] is always the head of the store, `<prefix>:{0}:head`. Every other key that a script uses begins
-- with the same `base`, so that it is in the same hash slot (src/store/redis/keys.ts, docs/reference/storage.md).
local base = string.sub(KEYS[1], 1, -5)

-- Numbers of 2^47 and more would be written with an exponent.
local function text(number)
  return string.format('%.0f', number)
end

-- Start of the script, microseconds.
local begun_at
local function time_now()
  if not begun_at then
    local time = redis.call('TIME')
    begun_at = time[1] * 1000000 + time[2]
  end
  return begun_at
end

-- How long no node could send a heartbeat because Redis was away, ms. This time does not count against nodes. Computed on the
-- assumption that a node sends more than three heartbeats in `held_for`.
local function time_away(now, held_for)
  local newest = redis.call('ZRANGE', base .. 'nodes', -1, -1, 'WITHSCORES')[2]
  return newest and math.max(0, now - (newest - held_for) - held_for / 3) or 0
end

-- The write number after `last`: the time in microseconds, rounded down to a multiple of 16. With more than 62,500 writes a
-- second, or a clock that goes back, write numbers run ahead of the clock.
local function write_number_after(last)
  local now = time_now()
  return math.max(last - last % 16 + 16, now - now % 16)
end

-- The newest numbered write of a node, kept since replies can be lost (numbered-writes.ts).
--
-- Returns the number of the write (0 if there was none), and its reply if the write had an effect.
local function newest_write(node)
  local number, reply = string.match(redis.call('GET', base .. 'g:' .. node) or '0 ', '^(%d+) (.*)$')
  return tonumber(number), reply ~= '' and cmsgpack.unpack(reply) or nil
end

-- Returns the time; whether the write must have no effect, because it is late, cancelled or already done; and the reply if the
-- write is already done.
local function begin_write(node, number, deadline)
  local time = time_now()
  local newest, reply = newest_write(node)
  if newest < tonumber(number) then return time, time > tonumber(deadline) end
  return time, true, newest == tonumber(number) and reply or nil
end

local function keep_reply(node, number, reply)
  redis.call('SET', base .. 'g:' .. node, number .. ' ' .. cmsgpack.pack(reply), 'EX', 3600)
end

local function newest_write_number()
  return tonumber(redis.call('HGET', KEYS[1], 'number') or '0')
end

-- Milliseconds.
local function newest_receipt()
  return tonumber(redis.call('HGET', KEYS[1], 'receipt') or '0')
end

-- The owner of a lock (src/core/locks.ts), or false.
local function owner_of(name)
  return redis.call('HGET', base .. 'h', name)
end

-- Whether a call that names this lock may take effect. The name is empty if the call names no lock.
local function is_held(name, owner)
  return name == '' or owner_of(name) == owner
end

-- Equal for two payloads of the same measurement (record-member.ts); at most 40 bytes.
local function identity(payload)
  local kind = string.byte(payload)
  if kind >= 4 then
    local start = 2 + ({ [0] = 0, 16, 8 })[kind % 4]
    return string.char(kind) .. string.sub(payload, start, start + 7)
  end
  return #payload <= 24 and payload or redis.sha1hex(payload)
end

-- An entry of the log may be trimmed if it is older than 10 minutes, or if there are about 100,000 newer entries. An entry of more
-- than 4 KiB counts as several. `log-marks` has the write number of every 1,000th entry, newest first.
local kept_microseconds = 600000000
local kept_marks, mark_every, bytes_in_one = 100, 1000, 4096

-- The newest write number that may be trimmed.
local function trimmable_to()
  local mark = redis.call('LINDEX', base .. 'log-marks', kept_marks - 1) or '0'
  return math.max(time_now() - kept_microseconds, tonumber(mark), 0)
end

-- Removes entries from the log, and stores the write number after which the log is complete.
local function trim(numbers)
  local ids, newest_trimmed = {}, tonumber(redis.call('HGET', KEYS[1], 'trimmed') or '0')
  for index, number in ipairs(numbers) do
    ids[index] = text(number) .. '-0'
    newest_trimmed = math.max(newest_trimmed, number)
  end
  if #ids == 0 then return end
  redis.call('XDEL', base .. 'log', unpack(ids))
  redis.call('HSET', KEYS[1], 'trimmed', text(newest_trimmed))
end

-- Appends an entry, in which names and values alternate (log-entry.ts). A `passing` entry is only for followers, and is not read
-- later. When it may be trimmed, the next passing entry removes it.
local function append_to_log(number, entry, passing)
  redis.call('XADD', base .. 'log', text(number) .. '-0', unpack(entry))
  local bytes = 0
  for _, field in ipairs(entry) do bytes = bytes + #field end
  local weight = 1 + math.floor(bytes / bytes_in_one)
  local total = redis.call('HINCRBY', KEYS[1], 'logged', weight)
  for _ = 1, math.floor(total / mark_every) - math.floor((total - weight) / mark_every) do
    redis.call('LPUSH', base .. 'log-marks', text(number))
    redis.call('LTRIM', base .. 'log-marks', 0, kept_marks - 1)
  end
  if not passing then return end
  local limit, old = trimmable_to(), {}
  redis.call('RPUSH', base .. 'log-passing', text(number))
  -- Each new passing entry removes up to two old passing entries, so that their number shrinks.
  for _ = 1, 2 do
    local oldest = tonumber(redis.call('LINDEX', base .. 'log-passing', 0) or '0')
    if oldest == 0 or oldest > limit then break end
    redis.call('LPOP', base .. 'log-passing')
    old[#old + 1] = oldest
  end
  trim(old)
end

-- Puts documents: names and JSON alternate, and an empty string instead of JSON removes the document. Returns the names for the
-- log. Leaves out documents that change with each message, since only the node with the session reads them.
local function put_documents(documents)
  local names = {}
  for at = 1, #documents, 2 do
    local name, json = documents[at], documents[at + 1]
    if json == '' then
      redis.call('HDEL', base .. 'o', name)
      redis.call('ZREM', base .. 'n', name)
    else
      redis.call('HSET', base .. 'o', name, json)
      redis.call('ZADD', base .. 'n', 0, name)
    end
    if string.sub(name, 1, 15) ~= 'mqtt-in-flight/' then names[#names + 1] = name end
  end
  return names
end
