#!lua flags=allow-oom
-- Makes a node the leader of a task for some time, or renews its term, unless another node leads. The leader has the lock
-- `task/<task>`. Each term has a unique number, so that a late command of one term cannot act in a later term.
-- ARGV     node, task, present term of the node or 0, duration (ms)
-- returns  the term: a new one if the node may have lost the task meanwhile; 0 if another node leads
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
