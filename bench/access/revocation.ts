import { ask, createThing, type Session, type Thing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { Closings, openAll } from './witnesses.ts'

/** A credential that can be revoked with one request. */
interface Revocable {
  readonly credential: string
  /** Of the DELETE. */
  readonly path: string
}

/** Milliseconds after which what is open is taken for left open. */
const deadline = 10_000
const leastRounds = 3

export const revocables = {
  'a token': async (server, thing) => {
    const tokens = `/v2/admin/things/${thing.thingId}/tokens`
    const { thingToken, tokenId } = await ask<Thing & { tokenId: string }>(server, 'POST', tokens)
    return { credential: thingToken, path: `${tokens}/${tokenId}` }
  },
  'a session of the operator': async (server, { thingId }) => {
    return ofSession(await ask(server, 'POST', '/v2/admin/sessions', { things: [thingId], access: 'write' }))
  },
  'a session of a thing': async (server, { thingToken }) => {
    return ofSession(await ask(server, 'POST', `/v2/things/${thingToken}/sessions`, { access: 'read' }))
  },
  'the token that minted a session': async (server, { thingId }) => {
    const tokens = `/v2/admin/things/${thingId}/tokens`
    const { thingToken, tokenId } = await ask<Thing & { tokenId: string }>(server, 'POST', tokens)
    const minting = ask<Session>(server, 'POST', `/v2/things/${thingToken}/sessions`, { access: 'read' })
    return { credential: (await minting).sessionToken, path: `${tokens}/${tokenId}` }
  },
  'a thing': async server => {
    const { thingId, thingToken } = await createThing(server)
    return { credential: thingToken, path: `/v2/admin/things/${thingId}`, thingId }
  },
} satisfies Record<
  string,
  (server: ServerProcess, thing: Thing) => Promise<Revocable & { readonly thingId?: string }>
>

export type RevocableName = keyof typeof revocables

function ofSession({ sessionToken, sessionId }: Session): Revocable {
  return { credential: sessionToken, path: `/v2/admin/sessions/${sessionId}` }
}

/**
 * Revokes one kind of credential again and again.
 *
 * @returns from each answer to each closing
 */
export async function measureRevocation(
  server: ServerProcess,
  name: RevocableName,
  seconds: number,
): Promise<Closings> {
  const end = performance.now() + seconds * 1_000
  const closings = new Closings()
  const thing = await createThing(server)
  for (let round = 0; round < leastRounds || performance.now() < end; round++) {
    const revocable: Revocable & { readonly thingId?: string } = await revocables[name](server, thing)
    const opened = await openAll(server, revocable.thingId ?? thing.thingId, revocable.credential)
    await ask(server, 'DELETE', revocable.path)
    await closings.take(opened, Date.now(), deadline)
  }
  return closings
}
