import { type Instrument, type InstrumentRecord, instruments } from './instruments.ts'
import { positionKey } from './voyage.ts'

/** An instrument that is registered as a thing. */
export interface RegisteredInstrument extends Instrument {
  readonly thingId: string
  /** The instrument's only credential, for HTTP and MQTT. */
  readonly thingToken: string
}

/** How long the link that the demo prints is valid, seconds. */
const sessionLength = 86_400

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

/** Creates a session that may write, since a read session does not see refused writes. @returns the session token */
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

/** A record as the server sends it, both over HTTP and over MQTT. */
export interface GivenRecord {
  readonly key: string
  readonly value: unknown
  readonly geo?: InstrumentRecord['geo']
  /** RFC 3339 in UTC with milliseconds. */
  readonly datetime: string
}

/** Converts a record from the server to the form in which the instrument sent it. */
export function asSent({ key, value, geo, datetime }: GivenRecord): InstrumentRecord {
  const time = datetime.replace(/\D/g, '')
  if (key !== positionKey) return { key, value, ...(geo && { geo }), datetime: time } as InstrumentRecord
  // The server returns a position as a GeoJSON Point, whatever form it was sent in.
  const [long, lat] = (value as { coordinates: [number, number] }).coordinates
  return { key, value: null, geo: { lat, long }, datetime: time }
}

/** Every record of one resource, oldest first. */
export async function readRecords(resource: string): Promise<InstrumentRecord[]> {
  const response = await fetch(`${resource}?order=asc`, { headers: { accept: 'application/x-ndjson' } })
  const lines = (await response.text()).split('\n').slice(0, -1)
  return lines.map(line => asSent(JSON.parse(line) as GivenRecord))
}

export async function readLatest(resource: string): Promise<InstrumentRecord | undefined> {
  const [latest] = await call<GivenRecord[]>(resource)
  return latest && asSent(latest)
}

/** Sends a request, and returns the JSON of the answer. @throws Error with the server's message if the request fails */
export async function call<Answer>(url: string, options?: RequestInit): Promise<Answer> {
  const response = await fetch(url, options)
  const answer = (await response.json()) as Answer & { message?: string }
  if (!response.ok) throw new Error(`${response.status}: ${answer.message}`)
  return answer
}
