#!lua
-- Says what came of a group whose reply was lost, and lets it not be committed any more if it was not.
--
-- KEYS[1]  head of the partition
-- ARGV     run of the node, number of the group
-- returns  what commit.lua returned for the group, or nothing if it was not committed
local group_key = base .. 'g:' .. ARGV[1]
local known_group = redis.call('GET', group_key)
if known_group then
  local number, reply = string.match(known_group, '^(%d+) (.*)$')
  if tonumber(number) == tonumber(ARGV[2]) and reply ~= '' then
    -- Something is written, so that waiting for replicas after it waits for the group, too.
    redis.call('EXPIRE', group_key, 3600)
    return cmsgpack.unpack(reply)
  end
end
redis.call('SET', group_key, ARGV[2] .. ' ', 'EX', 3600)
return false
