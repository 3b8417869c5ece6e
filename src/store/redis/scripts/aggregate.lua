#!lua flags=no-writes
-- Folds on in the records of one resource: at most 2,000 of them, or until they reach 256 KiB, into summaries of what lies
-- between two edges.
--
-- KEYS[1]  head of the store
-- ARGV     thing id, key, `asc` or `desc`,
--          first datetime (ms) or empty, datetime behind the last (ms) or empty,
--          how many summaries are wanted at most,
--          a write number: records of newer writes are passed over; empty: none is,
--          the position behind which to go on: datetime (6 bytes), write number (7), place (2); empty: from the beginning,
--          and edges of buckets in the order of reading (ms), without a gap. Where there are none, each datetime has a
--          summary of its own.
-- returns  nothing if nothing was ever stored under the key; else
--          newest write number; list of summaries in the order of reading, two of one bucket where it was begun before;
--          and, if there is more, the position up to which records were looked at. A summary is a list: a datetime in its bucket;
--          how many records; how many numbers; their sum, its compensation, least and greatest of them as texts;
--          first and last value in the order of time
local wanted = tonumber(ARGV[6])
local newest = newest_write_number()
local as_of = tonumber(ARGV[7]) or newest
local edge = 9

if not is_known() then return false end

-- As src/core/record/bucket-fold.ts has them.
local huge_from, huge_unit = 2 ^ 900, 2 ^ 64

-- The bucket of a datetime that none of those before reaches: its start, and its end, exclusive.
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

local function value_of(member)
  local kind = string.byte(member, 10)
  return string.sub(member, 11 + ({ [0] = 0, 16, 8 })[kind % 4] + (kind >= 4 and 8 or 0))
end

local function is_huge(summary)
  return summary.max >= huge_from or summary.min <= -huge_from
end

-- A compensated sum (Neumaier).
local function add_number(summary, number)
  local was_huge = is_huge(summary)
  summary.numbers = summary.numbers + 1
  summary.min = math.min(summary.min, number)
  summary.max = math.max(summary.max, number)
  if is_huge(summary) then
    number = number / huge_unit
    if not was_huge then
      summary.sum = summary.sum / huge_unit
      summary.compensation = summary.compensation / huge_unit
    end
  end
  local sum = summary.sum + number
  if math.abs(summary.sum) >= math.abs(number) then
    summary.compensation = summary.compensation + (summary.sum - sum + number)
  else
    summary.compensation = summary.compensation + (number - sum + summary.sum)
  end
  summary.sum = sum
end

local function add(summary, value)
  if summary.count == 0 or order == 'desc' then summary.first = value end
  if summary.count == 0 or order == 'asc' then summary.last = value end
  summary.count = summary.count + 1
  -- -0 is 0.
  if string.find(value, '^[-%d]') then add_number(summary, tonumber(value) + 0) end
end

local summaries, open = {}, nil
local reached = read_on(ARGV[8], 4, 2000, 262144, function(score, member)
  if struct.unpack('>I7', member) > as_of then return false end
  local datetime = tonumber(score)
  if not open or datetime < open.low or datetime >= open.high then
    local low, high = bounds_of(datetime)
    open = { datetime = datetime, low = low, high = high, count = 0, numbers = 0, sum = 0, compensation = 0, min = math.huge, max = -math.huge }
    summaries[#summaries + 1] = open
  end
  add(open, value_of(member))
  return #summaries == wanted
end)

local function double(number)
  return string.format('%.17g', number)
end

for index, each in ipairs(summaries) do
  summaries[index] = {
    each.datetime, each.count, each.numbers,
    double(each.sum), double(each.compensation), double(each.min), double(each.max),
    each.first, each.last,
  }
end

-- A list ends at its first nil.
return { newest, summaries, reached }
