#!lua flags=no-writes
-- Says how far the commit log goes back.
--
-- KEYS[1]  head of the store
-- returns  the newest write number that was ever trimmed, 0 if none was; the newest one that may be trimmed
return { tonumber(redis.call('HGET', KEYS[1], 'trimmed') or '0'), trimmable_to() }
