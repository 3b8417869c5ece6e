#!lua flags=allow-oom
-- Removes entries from the commit log, but for those that another node may still have to read.
--
-- KEYS[1]  head of the partition
-- ARGV     write numbers, 1,000 at most
-- returns  nothing
local limit, old = trimmable_to(), {}
for _, number in ipairs(ARGV) do
  if tonumber(number) <= limit then old[#old + 1] = tonumber(number) end
end
trim(old)
