#!lua flags=allow-oom
-- Removes entries from the commit log, but for those that another node may still have to read.
--
-- KEYS[1]  head of the store
-- ARGV     name and owner of the lock in whose name it is, or two empty strings; then write numbers, 1,000 at most
-- returns  1; 0 if the lock is lost: nothing was removed
if not is_held(ARGV[1], ARGV[2]) then return 0 end
local limit, old = trimmable_to(), {}
for at = 3, #ARGV do
  local number = tonumber(ARGV[at])
  if number <= limit then old[#old + 1] = number end
end
trim(old)
return 1
