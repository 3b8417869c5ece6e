import { type Instrument, type InstrumentRecord, instruments } from './instruments.ts'
import { positionKey } from './voyage.ts'

/** An instrument that the server knows. */
export interface RegisteredInstrument extends Instrument {
  readonly thingId: string
  /** Its one credential, at both doors. */
  readonly thingToken: string
}

/** The link that the demo prints is good for this long, seconds. */
const sessionLength = 86_400

/** Makes a thing of each instrument. */
export async function registerInstruments(url: string, adminKey: string): Promise<RegisteredInstrument[]> {
  const registered: RegisteredInstrument[] = []
  for (const instrument of instruments) {
    const made = await call<{ thingId: string; thingToken: string }>(`${url}/v2/admin/things`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}` },
      body: JSON.stringify({ name: instrument.name }),
    })
    registered.push({ ...instrument, thingId: made.thingId, thingToken: made.thingToken })
  }
  return registered
}

/** A session that may write: those that only read do not see refused writes. @returns its token */
export async function createSession(
  url: string,
  adminKey: string,
  things: readonly RegisteredInstrument[],
): Promise<string> {
  const { sessionToken } = await call<{ sessionToken: string }>(`${url}/v2/admin/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({
      things: things.map(({ thingId }) => thingId),
      access: 'write',
      expiresIn: sessionLength,
    }),
  })
  return sessionToken
}

/** A record as the service gives it, over HTTP and MQTT alike. */
export interface GivenRecord {
  readonly key: string
  readonly value: unknown
  readonly geo?: InstrumentRecord['geo']
  /** RFC 3339 in UTC with milliseconds. */
  readonly datetime: string
}

/** A given record in the spelling in which it was sent. */
export function asSent({ key, value, geo, datetime }: GivenRecord): InstrumentRecord {
  const time = datetime.replace(/\D/g, '')
  if (key !== positionKey) return { key, value, ...(geo && { geo }), datetime: time } as InstrumentRecord
  // A GeoJSON Point, whatever form it came in.
  const [long, lat] = (value as { coordinates: [number, number] }).coordinates
  return { key, value: null, geo: { lat, long }, datetime: time }
}

/** Every record of one resource, oldest first. */
export async function readRecords(resource: string): Promise<InstrumentRecord[]> {
  const response = await fetch(`${resource}?order=asc`, { headers: { accept: 'application/x-ndjson' } })
  const lines = (await response.text()).split('\n').slice(0, -1)
  return lines.map(line => asSent(JSON.parse(line) as GivenRecord))
}

/** The latest record of one resource. */
export async function readLatest(resource: string): Promise<InstrumentRecord | undefined> {
  const [latest] = await call<GivenRecord[]>(resource)
  return latest && asSent(latest)
}

/** @throws Error naming what the server said, unless it is a success */
export async function call<Answer>(url: string, options?: RequestInit): Promise<Answer> {
  const response = await fetch(url, options)
  const answer = (await response.json()) as Answer & { message?: string }
  if (!response.ok) throw new Error(`${response.status}: ${answer.message}`)
  return answer
}
