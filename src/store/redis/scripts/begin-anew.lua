#!lua flags=allow-oom
-- Gives a follower that cannot go on where it was a place to begin anew. Where Redis has lost what the follower had read, no
-- number that it knows is given out again.
--
-- KEYS[1]  head of the store
-- ARGV     node, newest write number that it has read
-- returns  write number of that place, of which there is an entry
local number = write_number_after(math.max(newest_write_number(), tonumber(ARGV[2])))
redis.call('HSET', KEYS[1], 'number', text(number))
append_to_log(number, { 'o', ARGV[1] }, true)
return number
