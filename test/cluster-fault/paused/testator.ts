import type { Thing } from '../../helpers/http-client.ts'
import { untilNothingWrong } from '../participant.ts'
import { PauseClient } from './pause-client.ts'
import { storedIn } from './resource-views.ts'

/** What a client with a will does while its node is paused. */
export type Course = 'moves' | 'is lost' | 'takes leave'

const key = 'state'
/** For a will of a client that is lost, milliseconds: its node may have to be held for dead first. */
const writtenWithin = 60_000

/** A client that writes `online` whenever it has connected, and whose will is `offline`. */
export class Testator extends PauseClient {
  readonly name: string
  readonly #course: Course
  readonly #clean: boolean
  /** At which attempt it came to the other node. */
  #moved = 1

  constructor(course: Course, session: 'clean' | 'persistent') {
    super()
    this.name = `will, ${session}, ${course}`
    this.#course = course
    this.#clean = session === 'clean'
  }

  protected optionsOf({ thingToken }: Thing) {
    return { clientId: this.name, clean: this.#clean, username: 'device', password: thingToken }
  }

  protected async start({ connection }: PauseClient['begun']): Promise<void> {
    await connection.begin(this.#willOf(1))
    await this.#writeOnline(1)
    // From now on it may be lost.
    this.sent.send('offline 1', 'once')
  }

  sendWhilePaused(): void {
    const { client } = this.begun.connection
    if (this.#course === 'takes leave') client.send({ cmd: 'disconnect' })
    if (this.#course === 'is lost') client.stream.destroy()
  }

  async move(): Promise<void> {
    if (this.#course !== 'moves') return
    const { round, connection } = this.begun
    this.#moved = await connection.move(this.#willOf(2))
    connection.takenOver()
    // What is left by a node that is dead is dropped, or was written before the client was back (contract §7.8).
    if (round.isHeldForDead !== false) this.sent.allow('offline 1', 'at most once')
    // It was written before the client had its CONNACK.
    else this.sent.acked('offline 1')
    await this.#writeOnline(2)
  }

  async check(): Promise<readonly string[]> {
    const { round, connection } = this.begun
    const wrong = this.#course === 'moves' ? [...(await connection.checkFirst())] : []
    if (this.#course === 'takes leave') {
      await connection.client.untilClosed()
      // The node may have been held for dead before it read that the client has gone.
      this.sent.allow('offline 1', round.plan.pause < 15_000 ? 'never' : 'at most once')
    }
    if (this.#course === 'is lost') wrong.push(...(await this.#untilWritten()))
    const attempts = await connection.connect(round.pausing, this.#willOf(3))
    if (this.#course === 'moves') {
      this.sent.send('offline 2', this.#moved > 1 ? 'at least once' : 'once')
      this.sent.acked('offline 2')
    }
    if (attempts > 1) this.sent.send('offline 3', 'at most once')
    await this.#writeOnline(3)
    return [...wrong, ...(await this.checkViews(key))]
  }

  #willOf(number: number) {
    const { thingId } = this.begun.thing
    const payload = JSON.stringify({ values: [{ key, value: `offline ${number}` }] })
    return { will: { topic: `things/${thingId}/write`, payload, qos: 1 } } as const
  }

  async #writeOnline(number: number): Promise<void> {
    const { thing, connection } = this.begun
    const value = `online ${number}`
    this.sent.send(value, 'once')
    await connection.client.publish(`things/${thing.thingId}/write`, { values: [{ key, value }] })
    this.sent.acked(value)
  }

  #untilWritten(): Promise<readonly string[]> {
    const { round, thing } = this.begun
    const value = 'offline 1'
    return untilNothingWrong(async () => {
      const stored = await storedIn(round.other, thing, key)
      if (!stored.includes(value))
        return [`${value} of ${thing.thingId} is not written: stored ${stored.join(', ')}`]
      this.sent.acked(value)
      return []
    }, writtenWithin)
  }
}
