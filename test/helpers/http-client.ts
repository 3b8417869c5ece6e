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

export async function createThing({ url, adminKey }: ServerAddress): Promise<Thing> {
  const headers = { authorization: `Bearer ${adminKey}` }
  const response = await fetch(`${url}/v2/admin/things`, { method: 'POST', headers, body: '{}' })
  if (response.status !== 201)
    throw new Error(`no thing was made: ${response.status} ${await response.text()}`)
  return (await response.json()) as Thing
}

export async function write({ url }: ServerAddress, { thingToken }: Thing, body: object): Promise<Response> {
  const response = await fetch(`${url}/v2/things/${thingToken}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  await response.clone().arrayBuffer()
  return response
}

/** Every record of a resource, newest first. */
export async function readAll(
  { url }: ServerAddress,
  { thingToken }: Thing,
  key: string,
): Promise<ReadRecord[]> {
  const headers = { accept: 'application/x-ndjson' }
  const response = await fetch(`${url}/v2/things/${thingToken}/resources/${key}`, { headers })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`nothing was read: ${response.status} ${text}`)
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as ReadRecord)
}
