#!lua flags=allow-oom
-- Has a node lead a task for a while, or on, unless another one does. To lead is to have the lock `task/<task>`. Each term has a
-- number of its own, so that what is sent in one term is not taken for something of a later one, however late it comes.
--
-- KEYS[1]  head of the store
-- ARGV     node, task, term that the node believes to be in or 0, for how long (ms)
-- returns  the term that it is in: another than before if it may have lost the task meanwhile; 0 if another node leads
local node, task, term, lifetime = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lock, ends = 'task/' .. task, base .. 'lead-ends'
local now = math.floor(time_now() / 1000)
local is_over = now >= tonumber(redis.call('HGET', ends, task) or '0')
local owner = owner_of(lock)
if owner ~= node .. ':' .. term or is_over then
  if owner and not is_over and string.sub(owner, 1, #node + 1) ~= node .. ':' then return 0 end
  term = text(redis.call('HINCRBY', KEYS[1], 'terms', 1))
  redis.call('HSET', base .. 'h', lock, node .. ':' .. term)
end
redis.call('HSET', ends, task, text(now + lifetime))
return tonumber(term)
