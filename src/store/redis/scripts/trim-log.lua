#!lua flags=allow-oom
-- Removes entries from the commit log, except those that another node may still have to read.
-- ARGV     name and owner of the lock that the call names, or two empty strings; then at most 1,000 write numbers
-- returns  1; 0 if the lock is lost: nothing was removed
if not is_held(ARGV[1], ARGV[2]) then return 0 end
local limit, old = trimmable_to(), {}
for at = 3, #ARGV do
  local number = tonumber(ARGV[at])
  if number <= limit then old[#old + 1] = number end
end
trim(old)
return 1
