#!lua flags=no-writes
-- Folds the next records of one resource, at most 2,000 of them, or until they reach 256 KiB, into a summary for each bucket.
-- ARGV     thing id, key, `asc` or `desc`,
--          first datetime (ms) or empty, datetime after the last (ms) or empty,
--          most summaries,
--          a write number: records of newer writes are skipped; empty: none are,
--          the position after which to begin: datetime (6 bytes), write number (7), place (2); empty: at the first record,
--          and edges of buckets in the order of reading (ms), without a gap. Beyond the edges, each datetime has its own summary.
-- returns  nothing if nothing was ever stored under the key; else
--          newest write number; list of summaries in the order of reading;
--          and, if there are more records, the position of the last one that was read. A summary is a list: a datetime in its
--          bucket; number of records; number of numbers; their sum, its compensation, minimum and maximum as texts;
--          first and last value in the order of time
local wanted = tonumber(ARGV[6])
local newest = newest_write_number()
local as_of = tonumber(ARGV[7]) or newest
local edge = 9

if not is_known() then return false end

-- The same as in src/core/record/bucket-fold.ts.
local huge_from, huge_unit = 2 ^ 900, 2 ^ 64

-- Start and end (exclusive) of the bucket of a datetime. Must be called in the order of reading.
local function bounds_of(datetime)
  local is_forwards = order == 'asc'
  local next_edge = tonumber(ARGV[edge + 1])
  while next_edge and ((is_forwards and datetime >= next_edge) or (not is_forwards and datetime < next_edge)) do
    edge = edge + 1
    next_edge = tonumber(ARGV[edge + 1])
  end
  if next_edge then
    local this_edge = tonumber(ARGV[edge])
    local low, high = math.min(this_edge, next_edge), math.max(this_edge, next_edge)
    if datetime >= low and datetime < high then return low, high end
  end
  return datetime, datetime + 1
end

-- Bytes of the geo, by kind of the payload.
local geo_lengths = { [0] = 0, 16, 8 }
local byte, sub, abs = string.byte, string.sub, math.abs

local function value_start(member)
  local kind = byte(member, 10)
  return 11 + geo_lengths[kind % 4] + (kind >= 4 and 8 or 0)
end

local function value_of(member)
  return sub(member, value_start(member))
end

-- Sums are compensated (Neumaier).
local function add_number(summary, number)
  summary.numbers = summary.numbers + 1
  if number < summary.min then summary.min = number end
  if number > summary.max then summary.max = number end
  if not summary.is_huge and abs(number) >= huge_from then
    summary.is_huge = true
    summary.sum = summary.sum / huge_unit
    summary.compensation = summary.compensation / huge_unit
  end
  if summary.is_huge then number = number / huge_unit end
  local before = summary.sum
  local sum = before + number
  local lost = abs(before) >= abs(number) and before - sum + number or number - sum + before
  summary.compensation = summary.compensation + lost
  summary.sum = sum
end

local summaries, open = {}, nil
local reached = read_on(ARGV[8], 4, 2000, 262144, function(score, member)
  if struct.unpack('>I7', member) > as_of then return false end
  local datetime = tonumber(score)
  if not open or datetime < open.low or datetime >= open.high then
    local low, high = bounds_of(datetime)
    open = {
      datetime = datetime, low = low, high = high, begin = member,
      count = 0, numbers = 0, sum = 0, compensation = 0, min = math.huge, max = -math.huge,
    }
    summaries[#summaries + 1] = open
  end
  open.count = open.count + 1
  open.finish = member
  local start = value_start(member)
  local sign = byte(member, start)
  -- A digit or a minus. -0 is 0.
  if sign == 45 or (sign >= 48 and sign <= 57) then add_number(open, tonumber(sub(member, start)) + 0) end
  return #summaries == wanted
end)

local function double(number)
  return string.format('%.17g', number)
end

for index, each in ipairs(summaries) do
  local first, last = each.begin, each.finish
  if order == 'desc' then first, last = last, first end
  summaries[index] = {
    each.datetime, each.count, each.numbers,
    double(each.sum), double(each.compensation), double(each.min), double(each.max),
    value_of(first), value_of(last),
  }
end

-- A list ends at its first nil.
return { newest, summaries, reached }
