import { ask, createThing, type Session } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { Closings, openAll } from './witnesses.ts'

/** Seconds. */
const lifetimes = [1, 2, 3]

/** Lets sessions of 1 to 3 s expire at the same time. @returns from each `expiresAt` to each closing */
export async function measureExpiry(server: ServerProcess, seconds: number): Promise<Closings> {
  const closings = new Closings()
  const thing = await createThing(server)
  const end = performance.now() + seconds * 1_000
  do {
    await Promise.all(
      lifetimes.map(async expiresIn => {
        const path = `/v2/things/${thing.thingToken}/sessions`
        const session = await ask<Session>(server, 'POST', path, { access: 'read', expiresIn })
        const opened = await openAll(server, thing.thingId, session.sessionToken)
        const expiresAt = Date.parse(session.expiresAt)
        await closings.take(opened, expiresAt, expiresAt - Date.now() + 10_000)
      }),
    )
  } while (performance.now() < end)
  return closings
}
