import { setTimeout as delay } from 'node:timers/promises'
import { readAll, type Thing } from '../helpers/http-client.ts'
import { connectAccepted, type MqttClient } from '../helpers/mqtt-client.ts'
import { sessionIn, type Version, versionOf } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { withLevel } from './commit-order.ts'
import { Ledger, storedValues, wholeWrites } from './ledger.ts'
import { deadline, type Participant, seconds, untilDone } from './participant.ts'
import type { Service } from './server.ts'
import { type PlannedWrite, planWrite, wayIn } from './writes.ts'

/** In each round, of each kind, half of them in version 5. */
const clients = 4
/** In version 5, by which the Will Delay is longer than the grace, milliseconds. */
const longer = 3_000

interface Testator {
  readonly version: Version
  readonly clientId: string
  readonly will: PlannedWrite
  client: MqttClient
}

/**
 * Clients with wills on the oldest node: those that are lost with it, those that come back, those that had taken leave. And on
 * the other node those that nothing happens to. In version 5 they have sessions and a Will Delay.
 */
export class Testators implements Participant {
  readonly name = 'wills'
  readonly #service: Service
  readonly #ledger = new Ledger()
  #thing: Thing | undefined
  #round = ''
  #number = 0
  #node: ServerProcess | undefined
  #lost: readonly Testator[] = []
  #returning: readonly Testator[] = []
  #staying: readonly Testator[] = []
  readonly #violations: string[] = []
  /** Of the round. */
  notes: readonly string[] = []
  /** Of the round: what came later than is promised, in words. */
  overdue: string[] = []
  #writing: Promise<void> = Promise.resolve()
  #endReturns = async () => {}
  #hasEnded = false

  constructor(service: Service) {
    this.#service = service
  }

  async begin(round: number): Promise<void> {
    this.#round = `w${round}`
    this.notes = []
    this.overdue = []
    this.#thing ??= (await this.#service.createThings(1))[0]
    const server = this.#service.node(0)
    this.#node = server
    this.#lost = await this.#connectAll(server)
    this.#returning = await this.#connectAll(server)
    const leaving = await this.#connectAll(server)
    await Promise.all(leaving.map(({ client }) => client.takeLeave()))
    this.#staying = this.#service.isAlone ? [] : await this.#connectAll(this.#service.node(1))
  }

  /** Those that are lost for good lose their connections now, before their node ends. */
  async loseConnections(): Promise<void> {
    await Promise.all(this.#lost.map(({ client }) => client.destroy()))
  }

  /**
   * The oldest node ends, since this time on the wall clock. Resolves when those that return are back. A node that was killed counts
   * as alive for a while: whoever takes a client over from it then, writes its will (contract §7.8).
   */
  async nodeEnds(at: number, { inOrder }: { readonly inOrder: boolean }): Promise<void> {
    for (const { will } of this.#lost) this.#ledger.settle(will, 'acked')
    const mayBeWritten = !inOrder && !this.#service.isAlone
    for (const { version, will } of this.#returning) {
      // Who goes on with a session before the delay is over has no will written.
      if (mayBeWritten && version === 4) this.#ledger.settle(will, 'uncertain')
    }
    this.#writing = this.#untilWritten(at)
    this.#writing.catch(() => {})
    this.#endReturns = this.#returns(this.#returning)
    await Promise.all(this.#returning.map(({ client }) => client.closed))
    while (this.#returning.some(({ client }) => client.stream.destroyed)) await delay(20)
  }

  /** From now on those that are closed come back at once. @returns ends that, when all are back */
  comeBack(): () => Promise<void> {
    return this.#returns([...this.#lost, ...this.#returning, ...this.#staying])
  }

  async check(): Promise<readonly string[]> {
    await this.#writing
    await this.#endReturns()
    this.#endReturns = async () => {}
    const hasEnded = this.#node !== undefined && !this.#service.has(this.#node)
    const present = [...(hasEnded ? [] : this.#lost), ...this.#returning, ...this.#staying]
    // One that was closed has had its will written, and rightly so.
    for (const { client, clientId } of present) {
      if (client.stream.destroyed) this.#violations.push(`${clientId} was closed by a node that is there`)
    }
    await Promise.all(present.map(({ client }) => client.takeLeave()))
    const stored = await storedValues(this.#service.node(0), this.#things)
    return [...this.#ledger.violations(stored), ...this.#violations]
  }

  /** Behind the last round, when none is to be written any more. */
  async inspect(dataDir: string): Promise<readonly string[]> {
    if (!this.#hasEnded) return []
    const [gte, lt] = [Buffer.from('omqtt-wills/'), Buffer.from('omqtt-wills0')]
    const kept = await withLevel(dataDir, level => level.keys({ gte, lt }).all())
    return kept.map(key => `still kept: ${key}`)
  }

  async end(): Promise<void> {
    this.#hasEnded = true
  }

  /** Of version 5, milliseconds. */
  get willDelay(): number {
    return this.#service.willGrace + longer
  }

  get #things(): readonly Thing[] {
    return this.#thing ? [this.#thing] : []
  }

  #returns(testators: readonly Testator[]): () => Promise<void> {
    const over = new AbortController()
    const ended = new Promise<void>(resolve => over.signal.addEventListener('abort', () => resolve()))
    const staying = testators.map(async testator => {
      while (!over.signal.aborted) {
        await Promise.race([testator.client.closed, ended])
        if (testator.client.stream.destroyed) await this.#comeBack(testator)
      }
    })
    const all = Promise.all(staying)
    all.catch(() => {})
    return async () => {
      over.abort()
      await all
    }
  }

  async #untilWritten(at: number): Promise<void> {
    // Of a node that was killed, behind its grace (issue 6, bar 3).
    const promised = (this.#service.isAlone ? 25_000 : 40_000) + this.willDelay
    const due = this.#lost.map(({ will }) => will)
    const until = at + promised + deadline
    const storedNow = async () => storedValues(await this.#service.reach(0), this.#things).catch(() => [])
    while (wholeWrites(due, await storedNow()).length < due.length) {
      if (Date.now() > until) {
        this.#violations.push(`of the wills of ${this.#round} some are not written`)
        return
      }
      await delay(250)
    }
    const records = this.#things.map(thing => readAll(this.#service.node(0), thing, 'temperature'))
    const stored = (await Promise.all(records)).flat()
    const after = ([4, 5] as const).map(version => {
      const values = new Set(this.#lost.flatMap(each => (each.version === version ? each.will.values : [])))
      const written = stored.filter(({ value }) => values.has(String(value)))
      return written.map(({ datetime }) => Date.parse(datetime) - at)
    })
    const [latest, earliestDelayed] = [Math.max(...after.flat()), Math.min(...(after[1] ?? []))]
    this.notes = [
      `wills written within ${seconds(latest)}, those with a delay after ${seconds(earliestDelayed)} at the earliest`,
    ]
    if (earliestDelayed < this.willDelay)
      this.#violations.push(`a will with a delay was written ${earliestDelayed} ms after the end of its node`)
    if (latest > promised) this.overdue.push(`a will was written ${latest} ms after the end of its node`)
  }

  async #comeBack(testator: Testator): Promise<void> {
    await untilDone(async number => {
      testator.client = await this.#connect(await this.#service.reach(number), testator)
    })
  }

  async #connectAll(server: ServerProcess): Promise<readonly Testator[]> {
    return await Promise.all(
      Array.from({ length: clients }, async () => {
        const number = this.#number++
        const version = versionOf(number)
        const way = wayIn(version, 2)
        const plan = { run: this.#round, way, place: 0, number, thing: 0, sizes: 'any' } as const
        const will = planWrite({ ...plan, kinds: ['plain'] })
        this.#ledger.add(will)
        // Until its client is lost.
        this.#ledger.settle(will, 'refused')
        const testator = { version, clientId: `mqtt${version}-testator-${this.#round}-${number}`, will }
        return { ...testator, client: await this.#connect(server, testator) }
      }),
    )
  }

  async #connect(
    { mqttUrl: url }: ServerProcess,
    { version, clientId, will }: Omit<Testator, 'client'>,
  ): Promise<MqttClient> {
    const token = this.#thing?.thingToken ?? ''
    const properties = { willDelayInterval: this.willDelay / 1_000 }
    return await connectAccepted({
      ...{ url, clientId, username: 'testator', password: token },
      ...sessionIn(version, version === 5),
      will: {
        topic: `things/${token}/write`,
        payload: will.body,
        qos: 1,
        ...(version === 5 && { properties }),
      },
    })
  }
}
