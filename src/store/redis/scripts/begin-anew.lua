#!lua flags=allow-oom
-- Appends an entry from which a follower can read on after a gap. Even if Redis has lost entries that the follower has read, no
-- write number of these entries is assigned again.
-- ARGV     node, newest write number that the follower has read
-- returns  write number of the entry
local number = write_number_after(math.max(newest_write_number(), tonumber(ARGV[2])))
redis.call('HSET', KEYS[1], 'number', text(number))
append_to_log(number, { 'o', ARGV[1] }, true)
return number
