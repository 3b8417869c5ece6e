import type { VoyageRecord } from './voyage.ts'

/** A thing as a small HTTP-only device would be: it activates itself once, then posts and reads. */
export interface VoyageClient {
  readonly thingId: string
  readonly thingToken: string
  /** Resolves when the records are durable. @throws Error naming what the server said */
  write(records: readonly VoyageRecord[]): Promise<void>
  /** Number of records stored under the key. */
  count(key: string): Promise<number>
  /** Averages over `interval`, oldest first. */
  averages(key: string, interval: string): Promise<readonly number[]>
}

/** Activates a thing with a code that the operator makes. */
export async function activateThing(url: string, adminKey: string): Promise<VoyageClient> {
  const { activationCodes } = await call<{ activationCodes: [string] }>(`${url}/v2/admin/activation-codes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}` },
    body: '{}',
  })
  const activation = { method: 'POST', body: JSON.stringify({ activationCode: activationCodes[0] }) }
  const thing = await call<{ thingId: string; thingToken: string }>(`${url}/v2/things`, activation)
  const base = `${url}/v2/things/${thing.thingToken}`
  return {
    ...thing,
    write: async values => {
      await call(base, { method: 'POST', body: JSON.stringify({ values }) })
    },
    count: async key => {
      const headers = { accept: 'application/x-ndjson' }
      const text = await (await fetch(`${base}/resources/${key}`, { headers })).text()
      return text.split('\n').length - 1
    },
    averages: async (key, interval) => {
      const query = `aggregate=avg&interval=${interval}&order=asc`
      const items = await call<{ avg: number }[]>(`${base}/resources/${key}?${query}`)
      return items.map(({ avg }) => avg)
    },
  }
}

async function call<Answer>(url: string, options?: RequestInit): Promise<Answer> {
  const response = await fetch(url, options)
  const answer = (await response.json()) as Answer & { message?: string }
  if (!response.ok) throw new Error(`${response.status}: ${answer.message}`)
  return answer
}
