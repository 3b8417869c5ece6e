/** The few requests that tests of a running server make. */

export interface ServerAddress {
  readonly url: string
  readonly adminKey: string
}

export interface Thing {
  readonly thingId: string
  readonly thingToken: string
}

export interface ReadRecord {
  readonly key: string
  readonly value: unknown
  readonly datetime: string
}

export interface Session {
  readonly sessionToken: string
  readonly sessionId: string
  readonly expiresAt: string
}

/** Asks with the admin key, or with the token in the path. @throws Error with the answer unless it is one of success */
export async function ask<Answer = Readonly<Record<string, unknown>>>(
  { url, adminKey }: ServerAddress,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}` },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  // Not the path: it may hold a secret.
  if (!response.ok) throw new Error(`${method} was answered with ${response.status} ${text}`)
  return JSON.parse(text) as Answer
}

export function createThing(server: ServerAddress): Promise<Thing> {
  return ask(server, 'POST', '/v2/admin/things', {})
}

export async function write({ url }: ServerAddress, { thingToken }: Thing, body: object): Promise<Response> {
  const response = await fetch(`${url}/v2/things/${thingToken}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  await response.clone().arrayBuffer()
  return response
}

/** Every record of a resource, newest first. @param adminKey if the thing is named by its id */
export async function readAll(
  { url }: ServerAddress,
  { thingToken }: Thing,
  key: string,
  adminKey?: string,
): Promise<ReadRecord[]> {
  const headers = {
    accept: 'application/x-ndjson',
    ...(adminKey !== undefined && { authorization: `Bearer ${adminKey}` }),
  }
  const response = await fetch(`${url}/v2/things/${thingToken}/resources/${key}`, { headers })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`nothing was read: ${response.status} ${text}`)
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as ReadRecord)
}
