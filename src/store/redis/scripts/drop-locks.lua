#!lua flags=allow-oom
-- Ends locks of dead nodes.
-- ARGV     name and owner of each lock in turn
-- returns  nothing
for at = 1, #ARGV, 2 do
  if owner_of(ARGV[at]) == ARGV[at + 1] then redis.call('HDEL', base .. 'h', ARGV[at]) end
end
