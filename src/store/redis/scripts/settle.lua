#!lua flags=allow-oom
-- Returns the reply of a write again if it was lost, or cancels the write if it had no effect yet. Does neither if there was a
-- newer write since then.
-- ARGV     name of the node, number of the write; 0 to ask for the time only
-- returns  the time (microseconds); and, if the write had an effect, the first item of its reply after the time
local node, number = ARGV[1], tonumber(ARGV[2])
local write_key = base .. 'g:' .. node
local newest, reply = newest_write(node)
if newest == number and reply then
  -- A write, so that WAIT after this script also waits for the numbered write.
  redis.call('EXPIRE', write_key, 3600)
  return { time_now(), reply }
end
if newest < number then redis.call('SET', write_key, ARGV[2] .. ' ', 'EX', 3600) end
return { time_now() }
