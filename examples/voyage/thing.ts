import { positionKey, type VoyageRecord } from './voyage.ts'

/** What the boat is once it is activated. */
export interface ActivatedThing {
  readonly thingId: string
  /** Its one credential, at both doors. */
  readonly thingToken: string
}

/** Activates a thing with a code that the operator makes, who calls it what the boat is called. */
export async function activateThing(url: string, adminKey: string): Promise<ActivatedThing> {
  const { activationCodes } = await call<{ activationCodes: [string] }>(`${url}/v2/admin/activation-codes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}` },
    body: '{}',
  })
  const activation = { method: 'POST', body: JSON.stringify({ activationCode: activationCodes[0] }) }
  const thing = await call<ActivatedThing>(`${url}/v2/things`, activation)
  await call(`${url}/v2/admin/things/${thing.thingId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({ name: 'Plaka' }),
  })
  return thing
}

/** A record as the service gives it, over HTTP and MQTT alike. */
export interface GivenRecord {
  readonly key: string
  readonly value: unknown
  readonly geo?: VoyageRecord['geo']
  /** RFC 3339 in UTC with milliseconds. */
  readonly datetime: string
}

/** A given record in the spelling in which it was sent. */
export function asSent({ key, value, geo, datetime }: GivenRecord): VoyageRecord {
  const time = datetime.replace(/\D/g, '')
  if (key !== positionKey) return { key, value, geo, datetime: time } as VoyageRecord
  // A GeoJSON Point, whatever form it came in.
  const [long, lat] = (value as { coordinates: [number, number] }).coordinates
  return { key, value: null, geo: { lat, long }, datetime: time }
}

/** Every record of one resource, oldest first. */
export async function readRecords(resource: string): Promise<VoyageRecord[]> {
  const headers = { accept: 'application/x-ndjson' }
  const response = await fetch(`${resource}?order=asc`, { headers })
  const lines = (await response.text()).split('\n').slice(0, -1)
  return lines.map(line => asSent(JSON.parse(line) as GivenRecord))
}

/** What is latest of one resource. */
export async function readLatest(resource: string): Promise<VoyageRecord | undefined> {
  const [latest] = await call<GivenRecord[]>(resource)
  return latest && asSent(latest)
}

/** Averages of one resource over `interval`, oldest first. */
export async function readAverages(resource: string, interval: string): Promise<number[]> {
  const items = await call<{ avg: number }[]>(`${resource}?aggregate=avg&interval=${interval}&order=asc`)
  return items.map(({ avg }) => avg)
}

/** @throws Error naming what the server said, unless it is a success */
export async function call<Answer>(url: string, options?: RequestInit): Promise<Answer> {
  const response = await fetch(url, options)
  const answer = (await response.json()) as Answer & { message?: string }
  if (!response.ok) throw new Error(`${response.status}: ${answer.message}`)
  return answer
}
