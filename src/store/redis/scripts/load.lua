#!lua
-- Runs commands of a migration and sets its position: both or, if Redis is out of memory, neither.
-- ARGV     position before, position after; then each command: number of words, the words
-- returns  nothing; an error if the stored position differs from the position before
local meta = base .. 'meta'

if redis.call('HEXISTS', meta, 'migration') == 0 or (redis.call('HGET', meta, 'position') or '') ~= ARGV[1] then
  return redis.error_reply('ELSEWHERE another process moves the same store')
end
redis.call('HSET', meta, 'position', ARGV[2])
local at = 3
while at <= #ARGV do
  local words = tonumber(ARGV[at])
  redis.call(unpack(ARGV, at + 1, at + words))
  at = at + 1 + words
end
