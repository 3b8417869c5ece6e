import type { VoyageRecord } from './voyage.ts'

/** What the boat is once it is activated. */
export interface ActivatedThing {
  readonly thingId: string
  /** Its one credential, at both doors. */
  readonly thingToken: string
}

/** Activates a thing with a code that the operator makes. */
export async function activateThing(url: string, adminKey: string): Promise<ActivatedThing> {
  const { activationCodes } = await call<{ activationCodes: [string] }>(`${url}/v2/admin/activation-codes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}` },
    body: '{}',
  })
  const activation = { method: 'POST', body: JSON.stringify({ activationCode: activationCodes[0] }) }
  return await call<ActivatedThing>(`${url}/v2/things`, activation)
}

/** Every record of one resource, oldest first, in the spelling in which it was sent. */
export async function readRecords(resource: string): Promise<VoyageRecord[]> {
  const headers = { accept: 'application/x-ndjson' }
  const response = await fetch(`${resource}?order=asc`, { headers })
  const lines = (await response.text()).split('\n').slice(0, -1)
  return lines.map(line => {
    const { key, value, geo, datetime } = JSON.parse(line) as VoyageRecord
    return { key, value, geo, datetime: datetime.replace(/[-:T]|\..*/g, '') }
  })
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
