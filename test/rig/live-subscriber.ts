import { get } from 'node:http'
import type { Thing } from '../helpers/http-client.ts'
import { connectAccepted, type Message } from '../helpers/mqtt-client.ts'
import { sessionIn, type Version, versionNames } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import type { CommitOrder } from './commit-order.ts'
import { fleeting } from './ledger.ts'
import { valueIn, type Wanted } from './subscriber.ts'

/** How a subscriber without a session gets its messages. */
export const liveWays = ['QoS 0', 'QoS 1', 'QoS 1 over WebSocket', 'chunks'] as const
type LiveWay = (typeof liveWays)[number]

/** What came over one connection. */
interface Visit {
  readonly values: string[]
  isOver: boolean
}

interface Open {
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** The first document of a stream, of which a load balancer may send several as one; no text of the load has brackets. */
function first(text: string): string {
  return /^(\[[^\]]*\]|\{[^}]*\})/.exec(text)?.[0] ?? ''
}

/** A subscriber without a session: each connection gets everything, in order, or the connection is closed. */
export class LiveSubscriber {
  readonly name: string
  readonly thing: Thing
  readonly way: LiveWay
  readonly #version: Version
  readonly #visits: Visit[] = []
  #open: Open | undefined

  constructor(version: Version, way: LiveWay, thing: Thing, at: string) {
    const door = way === 'chunks' ? '' : `${versionNames[version]}, `
    this.name = `${door}${way} at ${at} of ${thing.thingId}`
    this.#version = version
    this.thing = thing
    this.way = way
  }

  /** How often its connection was closed. */
  get losses(): number {
    return this.#visits.filter(({ isOver }) => isOver).length
  }

  /** Whether nothing has come over the connection that is open. */
  get isNew(): boolean {
    const visit = this.#visits.at(-1)
    return visit?.isOver === false && visit.values.length === 0
  }

  get closed(): Promise<void> {
    return this.#open?.closed ?? Promise.resolve()
  }

  get wanted(): Wanted {
    return this.way === 'chunks' ? 'writes' : 'values'
  }

  /** Resolves when it is subscribed. @throws Error if it is not let in */
  async connect(server: ServerProcess): Promise<void> {
    const visit: Visit = { values: [], isOver: false }
    const take = (text: string) => {
      const value = valueIn(text)
      if (value !== fleeting) visit.values.push(value)
    }
    this.#open = await (this.way === 'chunks'
      ? this.#openChunks(server, take)
      : this.#subscribe(server, take))
    this.#visits.push(visit)
    void this.#open.closed.then(() => {
      visit.isOver = true
    })
  }

  async leave(): Promise<void> {
    await this.#open?.close()
  }

  /** Whether everything has come over the connection that is open. */
  isComplete(order: CommitOrder): boolean {
    const visit = this.#visits.at(-1)
    return visit?.isOver !== false || visit.values.at(-1) === order[this.wanted].at(-1)
  }

  /** Faults of everything that has come so far, in words. */
  check(order: CommitOrder): string[] {
    const wanted = order[this.wanted]
    const places = new Map(wanted.map((value, place) => [value, place]))
    return this.#visits.flatMap(({ values, isOver }, visit) => {
      const first = places.get(values[0] ?? '') ?? 0
      const wrong = values.findIndex((value, index) => value !== wanted[first + index])
      const at = `${this.name}, connection ${visit + 1}`
      if (wrong !== -1) return [`${at}: ${values[wrong]} where ${wanted[first + wrong]} is due`]
      if (visit === 0 && values.length > 0 && first !== 0) return [`${at}: begins with ${values[0]}`]
      if (isOver || this.isComplete(order)) return []
      return [`${at}: nothing behind ${values.at(-1)}, and it is still open`]
    })
  }

  async #subscribe(server: ServerProcess, take: (text: string) => void): Promise<Open> {
    const { thingId, thingToken } = this.thing
    const url = this.way === 'QoS 1 over WebSocket' ? server.webSocketUrl : server.mqttUrl
    const onMessage = ({ payload, retain }: Message) => {
      if (!retain) take(payload.toString())
    }
    const credential = { username: 'live', password: thingToken }
    const client = await connectAccepted({
      ...sessionIn(this.#version, false),
      url,
      ...credential,
      onMessage,
    })
    await client.subscribe(`things/${thingId}/values/+`, this.way === 'QoS 0' ? 0 : 1)
    return { closed: client.closed, close: () => client.destroy() }
  }

  #openChunks({ url }: ServerProcess, take: (text: string) => void): Promise<Open> {
    return new Promise((resolve, reject) => {
      const outgoing = get(
        `${url}/v2/things/${this.thing.thingToken}?keepAlive=1000`,
        { agent: false },
        incoming => {
          const closed = new Promise<void>(end => incoming.once('close', end))
          if (incoming.statusCode !== 200) reject(new Error(`no stream: ${incoming.statusCode}`))
          void closed.then(() => reject(new Error('no stream: it ended before it began')))
          incoming.on('error', () => {})
          const close = async () => {
            incoming.destroy()
            await closed
          }
          let rest = ''
          incoming.setEncoding('utf8').on('data', (part: string) => {
            rest += part
            for (let document = first(rest); document !== ''; document = first(rest)) {
              rest = rest.slice(document.length)
              if (document.startsWith('[')) take(document)
              else if (document.includes('"status"')) resolve({ closed, close })
            }
          })
        },
      )
      outgoing.on('error', reject)
    })
  }
}
