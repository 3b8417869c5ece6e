import { createThing, write } from '../helpers/http-client.ts'
import type { DocumentedServer } from './documented-server.ts'

/** What the ids and secrets of an operation can stand for: a thing that has written, with all that belongs to one. */
export interface Scene {
  /** Values for the parameters of a path, by name. */
  readonly path: Readonly<Record<string, string>>
  readonly thingId: string
  readonly thingToken: string
  readonly sessionToken: string
  readonly activationCode: string
}

/** A new one, which nothing was done to. */
export async function setScene({ url, adminKey }: DocumentedServer): Promise<Scene> {
  const asAdmin = async <Answer>(path: string, body: object): Promise<Answer> => {
    const headers = { authorization: adminKey }
    const response = await fetch(`${url}/v2/admin/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return (await response.json()) as Answer
  }
  const thing = await createThing({ url, adminKey })
  const { thingId, thingToken } = thing
  await write({ url, adminKey }, thing, {
    values: [
      { key: 'temperature', value: 20 },
      { key: 'temperature', value: 21 },
      { key: '$geo', value: [24, 60] },
    ],
  })
  await write({ url, adminKey }, thing, { values: [{ key: 'no spaces', value: 1 }] })
  const [{ tokenId }, { sessionId, sessionToken }, { activationCodes }] = await Promise.all([
    asAdmin<{ tokenId: string }>(`things/${thingId}/tokens`, {}),
    asAdmin<{ sessionId: string; sessionToken: string }>('sessions', { things: [thingId], access: 'read' }),
    asAdmin<{ activationCodes: string[] }>('activation-codes', {}),
  ])
  const [code = ''] = activationCodes
  const path = { ref: thingId, thingId, key: 'temperature', tokenId, sessionId, code }
  return { path, thingId, thingToken, sessionToken, activationCode: code }
}
