import { Agent, request } from 'node:http'
import type { Thing } from '../helpers/http-client.ts'
import type { Ledger, PlannedWrite } from './ledger.ts'

const keys = ['temperature', 'depth', 'status']
const maximumRecords = 50

export interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: NodeJS.Dict<string | string[]>
  /** From before the request was sent until the answer was received in full, milliseconds. */
  readonly milliseconds: number
}

/** One keep-alive connection with at most one request on it. */
export class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string

  /** @param url of the server */
  constructor(url: string) {
    this.#url = url
  }

  /** @throws Error if the answer is not received in full */
  post(path: string, body: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const started = performance.now()
      const outgoing = request(
        `${this.#url}${path}`,
        { method: 'POST', agent: this.#agent, headers: { 'content-length': Buffer.byteLength(body) } },
        incoming => {
          const parts: Buffer[] = []
          incoming.on('data', (part: Buffer) => parts.push(part))
          incoming.on('error', reject)
          incoming.on('end', () => {
            resolve({
              status: incoming.statusCode ?? 0,
              body: Buffer.concat(parts).toString(),
              headers: incoming.headers,
              milliseconds: performance.now() - started,
            })
          })
        },
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** How many records the writes have: one, or 1 to 50. */
export type Sizes = 'one' | 'mostly small' | 'any'

const recordCounts: Record<Sizes, () => number> = {
  one: () => 1,
  'mostly small': () => 1 + Math.floor(maximumRecords * Math.random() ** 3),
  any: () => 1 + Math.floor(maximumRecords * Math.random()),
}

export interface LoadSetup {
  readonly url: string
  readonly things: readonly Thing[]
  readonly ledger: Ledger
  /** First part of every value, so that no two loads write the same. */
  readonly run: string
  readonly connections: number
  /** Ends the load after so many writes; without it the load goes on until the server is gone. */
  readonly writes?: number
  readonly sizes: Sizes
  readonly onAnswer?: (answer: Answer, write: PlannedWrite) => void
}

/** Posts writes on all connections at once, and keeps the ledger. */
export async function runLoad(setup: LoadSetup): Promise<void> {
  let begun = 0
  const isOver = () => setup.writes !== undefined && begun >= setup.writes
  const posting = Array.from({ length: setup.connections }, async (_, place) => {
    const connection = new Connection(setup.url)
    try {
      while (!isOver()) {
        const write = planWrite(setup, `${setup.run}-${place}-${begun}`, begun++)
        setup.ledger.add(write)
        const answer = await postWrite(connection, setup.things, setup.ledger, write).catch(() => undefined)
        if (!answer) return
        setup.onAnswer?.(answer, write)
      }
    } finally {
      connection.close()
    }
  })
  await Promise.all(posting)
}

/** @throws Error if it is not answered */
export async function postWrite(
  connection: Connection,
  things: readonly Thing[],
  ledger: Ledger,
  write: PlannedWrite,
): Promise<Answer> {
  const answer = await connection.post(`/v2/things/${things[write.thing]?.thingToken}`, write.body)
  if (answer.status === 201) ledger.settle(write, 'acked')
  else if (reasonOf(answer) !== 'store_timeout') ledger.settle(write, 'refused')
  return answer
}

export function reasonOf({ body }: Answer): string | undefined {
  return (JSON.parse(body) as { reason?: string }).reason
}

/** By turns without anything that makes it repeatable, with explicit datetimes (some of them equal), with a write id. */
function planWrite({ things, sizes }: LoadSetup, name: string, number: number): PlannedWrite {
  const values = Array.from({ length: recordCounts[sizes]() }, (_, place) => `${name}-${place}`)
  const now = Date.now()
  const hasDatetimes = number % 3 === 1
  const hasId = number % 3 === 2
  const records = values.map((value, place) => ({
    key: keys[place % keys.length],
    value,
    ...(hasDatetimes && { datetime: new Date(now - Math.floor(place / 6)).toISOString() }),
  }))
  const body = JSON.stringify({ values: records, ...(hasId && { id: name }) })
  return { name, thing: number % things.length, body, values, repeatable: hasDatetimes || hasId }
}
