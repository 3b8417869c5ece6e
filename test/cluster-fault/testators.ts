import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Ledger, wholeWrites } from '../fault/ledger.ts'
import { type PlannedWrite, planWrite } from '../fault/planned-write.ts'
import { storedValues } from '../fault/stored-values.ts'
import { readAll, type Thing } from '../helpers/http-client.ts'
import { connectAccepted, type MqttClient } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { deadline, type Participant, untilDone } from './participant.ts'
import { type Service, willGrace } from './service.ts'
import { violationsIn } from './writers.ts'

/** In each round, of each kind. */
const clients = 4
/** A will of a client of a node that was killed is written within so many milliseconds and its grace (issue 6, bar 3). */
const promised = 40_000 + willGrace

interface Testator {
  readonly clientId: string
  readonly will: PlannedWrite
  client: MqttClient
}

/**
 * Clients with wills on the oldest node: those that are lost with it, those that come back to another one, those that
 * had taken leave. And on the others those that nothing happens to.
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
  overdue: readonly string[] = []
  #writing: Promise<void> = Promise.resolve()

  constructor(service: Service) {
    this.#service = service
  }

  async begin(round: number): Promise<void> {
    this.#round = `n${round}`
    this.notes = []
    this.overdue = []
    this.#thing ??= (await this.#service.createThings(1))[0]
    const server = this.#service.node(0)
    this.#node = server
    this.#lost = await this.#connectAll(server)
    this.#returning = await this.#connectAll(server)
    const leaving = await this.#connectAll(server)
    await Promise.all(leaving.map(({ client }) => client.takeLeave()))
    this.#staying = await this.#connectAll(this.#service.node(1))
  }

  /**
   * The oldest node ends, since this time on the wall clock. One that was killed counts as alive for a while: whoever takes a
   * client over from it then, writes its will (contract §7.8).
   */
  async nodeEnds(at: number, { inOrder }: { readonly inOrder: boolean }): Promise<void> {
    for (const { will } of this.#lost) this.#ledger.settle(will, 'acked')
    if (!inOrder) for (const { will } of this.#returning) this.#ledger.settle(will, 'uncertain')
    await Promise.all(
      this.#returning.map(async testator => {
        await testator.client.closed
        await this.#comeBack(testator)
      }),
    )
    this.#writing = this.#untilWritten(at)
    this.#writing.catch(() => {})
  }

  /** From now on those that are closed come back at once. @returns ends that, when all are back */
  comeBack(): () => Promise<void> {
    const over = new AbortController()
    const ended = once(over.signal, 'abort')
    const staying = [...this.#lost, ...this.#returning, ...this.#staying].map(async testator => {
      while (!over.signal.aborted) {
        await Promise.race([testator.client.closed, ended])
        if (!testator.client.stream.destroyed) continue
        await this.#comeBack(testator)
      }
    })
    return async () => {
      over.abort()
      await Promise.all(staying)
    }
  }

  async check(): Promise<readonly string[]> {
    await this.#writing
    const node = this.#node
    const hasEnded = node !== undefined && !this.#service.has(node)
    const present = hasEnded
      ? [...this.#returning, ...this.#staying]
      : [...this.#lost, ...this.#returning, ...this.#staying]
    // One that was closed has had its will written, and rightly so.
    for (const { client, clientId } of present) {
      if (client.stream.destroyed) this.#violations.push(`${clientId} was closed by a node that is there`)
    }
    await Promise.all(present.map(({ client }) => client.takeLeave()))
    const stored = await storedValues(this.#service.node(0), this.#things)
    return [...violationsIn(this.#ledger, stored), ...this.#violations]
  }

  get #things(): readonly Thing[] {
    return this.#thing ? [this.#thing] : []
  }

  async #untilWritten(at: number): Promise<void> {
    const due = this.#lost.map(({ will }) => will)
    const until = at + promised + deadline
    const stored = () => storedValues(this.#service.node(0), this.#things)
    while (wholeWrites(due, await stored()).length < due.length) {
      if (Date.now() > until) {
        this.#violations.push(`of the wills of ${this.#round} some are not written`)
        return
      }
      await delay(250)
    }
    const values = new Set(due.flatMap(will => will.values))
    const records = this.#things.map(thing => readAll(this.#service.node(0), thing, 'temperature'))
    const written = (await Promise.all(records)).flat().filter(({ value }) => values.has(String(value)))
    const latest = Math.max(...written.map(({ datetime }) => Date.parse(datetime))) - at
    this.notes = [`wills written within ${(latest / 1_000).toFixed(1)} s`]
    if (latest > promised) this.overdue = [`a will was written ${latest} ms after the end of its node`]
  }

  async #comeBack(testator: Testator): Promise<void> {
    await untilDone(async number => {
      testator.client = await this.#connect(this.#service.node(number), testator)
    })
  }

  async #connectAll(server: ServerProcess): Promise<readonly Testator[]> {
    return await Promise.all(
      Array.from({ length: clients }, async () => {
        const number = this.#number++
        const plan = { run: this.#round, way: 'QoS 2', place: 0, number, thing: 0, sizes: 'any' } as const
        const will = planWrite({ ...plan, kinds: ['plain'] })
        this.#ledger.add(will)
        // Until its client is lost.
        this.#ledger.settle(will, 'refused')
        const testator = { clientId: `testator-${this.#round}-${number}`, will }
        return { ...testator, client: await this.#connect(server, testator) }
      }),
    )
  }

  async #connect(
    { mqttUrl: url }: ServerProcess,
    { clientId, will }: Pick<Testator, 'clientId' | 'will'>,
  ): Promise<MqttClient> {
    const token = this.#thing?.thingToken ?? ''
    return await connectAccepted({
      ...{ url, clientId, username: 'testator', password: token },
      will: { topic: `things/${token}/write`, payload: will.body, qos: 1 },
    })
  }
}
