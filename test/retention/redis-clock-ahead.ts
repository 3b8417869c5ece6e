import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Loaded before the code of a server: its scripts add the seconds in the key `clock-ahead` of Redis to the clock of Redis, so that
 * a test can set that clock, for all nodes and at any time. libfaketime cannot: redis-server with jemalloc does not start with it.
 */
const { readFileSync } = fs

function readShifted(...args: Parameters<typeof readFileSync>): ReturnType<typeof readFileSync> {
  const content = readFileSync(...args)
  if (typeof content !== 'string' || !String(args[0]).endsWith('/scripts/lib.lua')) return content
  const shifted = content.replace(
    "local time = redis.call('TIME')",
    line => `${line}\n    time[1] = time[1] + tonumber(redis.call('GET', 'clock-ahead') or '0')`,
  )
  if (shifted === content) throw new Error('lib.lua does not ask for the time as it did')
  return shifted
}

fs.readFileSync = readShifted as typeof readFileSync
syncBuiltinESMExports()
