#!lua flags=allow-oom
-- Has a node lead a task for a while, or on, unless another one does. Each term has a number of its own, so that what is sent
-- in one term is not taken for something of a later one, however late it comes.
--
-- KEYS[1]  head of the partition
-- ARGV     node, task, term that the node believes to be in or 0, for how long (ms)
-- returns  the term that it is in: another than before if it may have lost the task meanwhile; 0 if another node leads
local node, task, term, lifetime = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lead = base .. 'lead:' .. task
local leader = redis.call('GET', lead)
if leader == node .. ':' .. term then
  redis.call('PEXPIRE', lead, lifetime)
  return tonumber(term)
end
if leader and string.sub(leader, 1, #node + 1) ~= node .. ':' then return 0 end
local new_term = redis.call('HINCRBY', KEYS[1], 'terms', 1)
redis.call('SET', lead, node .. ':' .. text(new_term), 'PX', lifetime)
return new_term
