#!lua flags=allow-oom
-- Says what came of a write whose reply was lost, and lets it not be done any more if it was not. Does nothing where it is
-- late itself, behind a newer write.
--
-- KEYS[1]  head of the store
-- ARGV     name of the node, number of the write; 0: of none, it is the time that is asked for
-- returns  the time (microseconds); and, if it was done, the first thing that it returned behind the time
local node, number = ARGV[1], tonumber(ARGV[2])
local write_key = base .. 'g:' .. node
local newest, reply = newest_write(node)
if newest == number and reply then
  -- Something is written, so that waiting for replicas after it waits for the write, too.
  redis.call('EXPIRE', write_key, 3600)
  return { time_now(), reply }
end
if newest < number then redis.call('SET', write_key, ARGV[2] .. ' ', 'EX', 3600) end
return { time_now() }
