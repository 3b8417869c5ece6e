#!lua flags=allow-oom
-- Ends holds of nodes that are not there any more.
--
-- KEYS[1]  head of the store
-- ARGV     name and holder of each in turn
-- returns  nothing
for at = 1, #ARGV, 2 do
  if holder_of(ARGV[at]) == ARGV[at + 1] then redis.call('HDEL', base .. 'h', ARGV[at]) end
end
