import { Changes } from '../../helpers/changes.ts'
import { readAll, type Thing } from '../../helpers/http-client.ts'
import { connectMqtt, type Message, type MqttClient } from '../../helpers/mqtt-client.ts'
import type { Version } from '../../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { readItem } from '../../rig/magic/check.ts'
import type { Count } from '../../rig/magic/counter.ts'
import { untilNothingWrong } from '../../rig/participant.ts'
import { retainedOf } from '../../rig/views.ts'

/** A live subscriber to every resource of one thing, without a session. */
export class LiveValues {
  readonly #delivered = new Map<string, unknown[]>()
  readonly #changes = new Changes()
  #client: MqttClient | undefined

  /** Resolves when it is subscribed. */
  static async at(
    { mqttUrl: url }: ServerProcess,
    { thingId, thingToken }: Thing,
    version: Version,
  ): Promise<LiveValues> {
    const values = new LiveValues()
    const onMessage = (message: Message) => values.#take(message)
    const credential = { username: 'live', password: thingToken }
    values.#client = await connectMqtt({ url, protocolVersion: version, ...credential, onMessage })
    await values.#client.subscribe(`things/${thingId}/values/+`)
    return values
  }

  get isClosed(): boolean {
    return this.#client?.stream.destroyed === true
  }

  /** The values of a resource that were delivered live, oldest first. */
  of(key: string): readonly unknown[] {
    return this.#delivered.get(key) ?? []
  }

  /** Resolves with whether the value is delivered within so many milliseconds. */
  until(key: string, value: unknown, within: number): Promise<boolean> {
    return this.#changes.until(() => this.of(key).includes(value), within)
  }

  async end(): Promise<void> {
    await this.#client?.destroy()
  }

  #take({ topic, payload, retain }: Message): void {
    if (retain) return
    const key = topic.slice(topic.lastIndexOf('/') + 1)
    const { value } = JSON.parse(payload.toString()) as { value: unknown }
    this.#delivered.set(key, [...this.of(key), value])
    this.#changes.tell()
  }
}

/** Within which everything that was acknowledged has to be seen everywhere, milliseconds. */
export const settledWithin = 8_000

/** Where to look for what became of the writes of one thing. */
export interface Views {
  readonly nodes: readonly ServerProcess[]
  readonly thing: Thing
  readonly sent: SentWrites
  /** Since before the first write, at a node that was not paused. */
  readonly live: LiveValues
}

/** Values of a resource over REST, oldest first. */
export async function storedIn(server: ServerProcess, thing: Thing, key: string): Promise<string[]> {
  const records = await readAll(server, thing, key)
  return records.map(({ value }) => String(value)).toReversed()
}

/**
 * Compares an ordinary resource with what was sent: REST of each node is what may be stored, in order; live messages came in
 * that order; the retained message is the latest. @returns what is wrong, in words
 */
export function checkValues(views: Views, key: string): Promise<readonly string[]> {
  return untilNothingWrong(async () => {
    const { stored, wrong } = await checkStored(views, key)
    const live = views.live.of(key).map(String)
    const latest = stored.at(-1)
    const retained = views.nodes.map(async (server, place) => {
      const { value } = (await retainedOf(server, views.thing, key, 1)).get(key) ?? {}
      return expectSame(`retained at node ${place}`, latest, String(value))
    })
    const found = [
      ...difference(['stored', stored], ['delivered live', live]),
      ...(await Promise.all(retained)).flat(),
    ]
    return [...wrong, ...found].map(text => `${key} of ${views.thing.thingId}: ${text}`)
  }, settledWithin)
}

/**
 * As `checkValues`, of writes of which each changes `$settings`, and `$count` of the counting host: whatever is applied twice,
 * or delivered twice, is seen.
 */
export function checkMagic(views: Views): Promise<readonly string[]> {
  return untilNothingWrong(async () => {
    const { nodes, thing, live } = views
    const { stored, wrong } = await checkStored(views, '$settings.n')
    const settings = live.of('$settings').map(value => String((value as { n: number }).n))
    const counts = live.of('$count').map(value => String((value as Count).applied))
    const applied = stored.map((_, place) => String(place + 1))
    const states = nodes.map(async (server, place) => {
      const settings = (await readItem(server, thing, '$settings'))?.value as { n: number } | undefined
      const count = (await readItem(server, thing, '$count'))?.value as Count | undefined
      return [
        ...expectSame(`$settings at node ${place}`, stored.at(-1), String(settings?.n)),
        ...expectSame(`applied to $count at node ${place}`, stored.length, count?.applied),
      ]
    })
    return [
      ...wrong,
      ...difference(['$settings.n stored', stored], ['$settings delivered live', settings]),
      ...difference(['$count of what is stored', applied], ['delivered live', counts]),
      ...(await Promise.all(states)).flat(),
    ].map(text => `${thing.thingId}: ${text}`)
  }, settledWithin)
}

/** Whatever the first node has, and whether it may have that, and the others have the same. */
async function checkStored({ nodes, thing, sent }: Views, key: string) {
  const all = await Promise.all(nodes.map(server => storedIn(server, thing, key)))
  const [stored = []] = all
  const wrong = [
    ...sent.check(stored).map(text => `${text}; stored ${shown(stored)}`),
    ...all.flatMap((other, place) => difference(['stored', stored], [`at node ${place}`, other])),
  ]
  return { stored, wrong }
}

function expectSame(what: string, expected: unknown, got: unknown): string[] {
  return expected === got ? [] : [`${what}: expected ${expected}, got ${got}`]
}

/** How often a write may be stored. */
export type Copies = 'never' | 'once' | 'at most once' | 'at least once'

interface SentWrite {
  readonly value: string
  readonly writer: string
  copies: Copies
  /** On the clock of `performance.now()`, like all of these, milliseconds; of the first time that it was sent. */
  sentAt: number
  ackedAt: number | undefined
}

const bounds: Readonly<Record<Copies, readonly [least: number, most: number]>> = {
  never: [0, 0],
  once: [1, 1],
  'at most once': [0, 1],
  'at least once': [1, Number.POSITIVE_INFINITY],
}

/** What clients have sent to one resource, each value once, and what of it may be stored, and in which order. */
export class SentWrites {
  readonly #writes = new Map<string, SentWrite>()
  readonly #now: () => number

  /** @param now a clock that does not go back, milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** @param writer its writes are sent in order, over one connection after another */
  send(value: string, copies: Copies, writer = 'client'): void {
    this.#writes.set(value, { value, writer, copies, sentAt: this.#now(), ackedAt: undefined })
  }

  /** By whichever of its copies. */
  acked(value: string): void {
    this.#of(value).ackedAt ??= this.#now()
  }

  /** When more is known about a write. */
  allow(value: string, copies: Copies): void {
    this.#of(value).copies = copies
  }

  /**
   * Faults of what is stored, in words.
   *
   * @param stored oldest first
   */
  check(stored: readonly string[]): string[] {
    const unknown = stored.filter(value => !this.#writes.has(value))
    if (unknown.length > 0) return [`stored but never sent: ${unknown.join(', ')}`]
    return [...this.#checkCounts(stored), ...this.#checkOrder(stored), ...this.#checkLatest(stored)]
  }

  #checkCounts(stored: readonly string[]): string[] {
    return [...this.#writes.values()].flatMap(({ value, copies }) => {
      const count = stored.filter(each => each === value).length
      const [least, most] = bounds[copies]
      return count < least || count > most ? [`${value} is stored ${count} times, expected ${copies}`] : []
    })
  }

  /** The first of each kind that is wrong: others follow from it. */
  #checkOrder(stored: readonly string[]): string[] {
    return [
      ...[...this.#behindWhatWasSentLater(stored)].slice(0, 1),
      ...[...this.#outOfTurn(stored)].slice(0, 1),
    ]
  }

  *#behindWhatWasSentLater(stored: readonly string[]): Generator<string> {
    let latest: SentWrite | undefined
    for (const value of stored) {
      const write = this.#of(value)
      if (latest && write.ackedAt !== undefined && write.ackedAt < latest.sentAt)
        yield `${value} is stored behind ${latest.value}, which was sent when ${value} was acknowledged`
      if (!latest || write.sentAt > latest.sentAt) latest = write
    }
  }

  /** Looks at the first copy of each. */
  *#outOfTurn(stored: readonly string[]): Generator<string> {
    const places = new Map([...this.#writes.keys()].map((value, place) => [value, place]))
    const latest = new Map<string, { readonly value: string; readonly place: number }>()
    for (const value of new Set(stored)) {
      const { writer } = this.#of(value)
      const place = places.get(value) ?? 0
      const before = latest.get(writer)
      if (before && before.place > place)
        yield `${value} is stored behind ${before.value}, which ${writer} sent later`
      else latest.set(writer, { value, place })
    }
  }

  /** Where the write that was acknowledged last was sent when all others were. */
  #checkLatest(stored: readonly string[]): string[] {
    const acked = [...this.#writes.values()].flatMap(({ value, sentAt, ackedAt }) =>
      ackedAt === undefined ? [] : [{ value, sentAt, ackedAt }],
    )
    const [last, before] = acked.toSorted((one, other) => other.ackedAt - one.ackedAt)
    if (!last || (before && before.ackedAt > last.sentAt) || stored.at(-1) === last.value) return []
    return [`latest is ${stored.at(-1)}, the last acknowledged is ${last.value}`]
  }

  #of(value: string): SentWrite {
    const write = this.#writes.get(value)
    if (!write) throw new Error(`${value} was not sent`)
    return write
  }
}

/** How much of a list is shown. */
const most = 12

/** The end of a list, in words. */
export function shown(values: readonly unknown[]): string {
  return `${values.length > most ? '… ' : ''}${values.slice(-most).join(' ')}`
}

/**
 * Where two lists that should be the same begin to differ, in words.
 *
 * @param expected its name, and what is in it
 */
export function difference(
  expected: readonly [name: string, values: readonly string[]],
  got: readonly [name: string, values: readonly string[]],
): string[] {
  const [[name, values], [other, others]] = [expected, got]
  const length = Math.max(values.length, others.length)
  const place = Array.from({ length }, (_, index) => index).find(index => values[index] !== others[index])
  if (place === undefined) return []
  const from = Math.max(0, place - 2)
  const part = (list: readonly string[]) => list.slice(from, from + most).join(' ') || 'nothing'
  const ends = values.at(-1) === others.at(-1) ? '' : `; the last are ${values.at(-1)} and ${others.at(-1)}`
  return [`behind ${from}: ${name} ${part(values)}, ${other} ${part(others)}${ends}`]
}
