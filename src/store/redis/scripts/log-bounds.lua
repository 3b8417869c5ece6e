#!lua flags=no-writes
-- returns  the newest write number that was ever trimmed from the log, or 0; the newest one that may be trimmed
return { tonumber(redis.call('HGET', KEYS[1], 'trimmed') or '0'), trimmable_to() }
