import type { Redis } from 'ioredis'

/** Milliseconds. */
const interval = 1_000
/** A connection over which nothing was heard for so many intervals is given up. */
const patience = 5

/**
 * Ends a connection over which nothing comes any more, so that the client makes a new one: where packets vanish, TCP
 * would go on trying for a quarter of an hour. ioredis has `socketTimeout` for it, whose timer outlives the connection
 * and then ends the one after it.
 *
 * Blocking commands may block for less than that: for 2 s.
 */
export function endWhenSilent(redis: Redis): void {
  redis.on('connect', () => {
    const { stream } = redis
    // Counted, not measured: after a long pause of this process the answers are still to be read.
    let silent = 0
    const timer = setInterval(() => {
      silent++
      if (silent > patience) stream.destroy(silence())
      // Before it is ready, ioredis itself asks again and again.
      else if (redis.status === 'ready') redis.ping().catch(() => {})
    }, interval)
    stream.on('data', () => {
      silent = 0
    })
    stream.once('close', () => clearInterval(timer))
  })
}

/** As the system calls it when it gives a connection up. */
function silence(): Error {
  return Object.assign(new Error(`Redis was silent for ${patience} s`), { code: 'ETIMEDOUT' })
}
