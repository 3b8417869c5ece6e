import { createThing, type Thing } from '../../helpers/http-client.ts'
import { untilNothingWrong } from '../participant.ts'
import { LiveValues } from './live-values.ts'
import { MovingConnection } from './moving-connection.ts'
import type { PauseClient } from './pause-client.ts'
import type { PausedRound } from './paused-round.ts'
import { checkViews, storedIn } from './resource-views.ts'
import { SentWrites } from './sent-writes.ts'

/** What a client with a will does while its node is paused. */
export type Course = 'moves' | 'is lost' | 'takes leave'

const key = 'state'
/** For a will of a client that is lost, milliseconds: its node may have to be held for dead first. */
const writtenWithin = 60_000

interface Started {
  readonly round: PausedRound
  readonly thing: Thing
  readonly told: LiveValues
  readonly connection: MovingConnection
}

/** A client that writes `online` whenever it has connected, and whose will is `offline`. */
export class Testator implements PauseClient {
  readonly name: string
  readonly #course: Course
  readonly #clean: boolean
  readonly #sent = new SentWrites()
  #started: Started | undefined

  constructor(course: Course, session: 'clean' | 'persistent') {
    this.name = `will, ${session}, ${course}`
    this.#course = course
    this.#clean = session === 'clean'
  }

  async begin(round: PausedRound): Promise<void> {
    const thing = await createThing(round.other)
    const told = await LiveValues.at(round.other, thing)
    const options = { clientId: this.name, clean: this.#clean, username: 'device' }
    const connection = new MovingConnection(round, { ...options, password: thing.thingToken })
    this.#started = { round, thing, told, connection }
    await connection.begin(this.#willOf(1))
    await this.#writeOnline(1)
    // From now on it may be lost.
    this.#sent.send('offline 1', 'once')
  }

  sendInFlight(): void {}

  sendWhilePaused(): void {
    const { client } = this.#parts.connection
    if (this.#course === 'takes leave') client.send({ cmd: 'disconnect' })
    if (this.#course === 'is lost') client.stream.destroy()
  }

  async move(): Promise<void> {
    if (this.#course !== 'moves') return
    const { round, connection } = this.#parts
    await connection.move(this.#willOf(2))
    connection.takenOver()
    // What is left by a node that is dead is dropped, or was written before the client was back (contract §7.8).
    if (round.isHeldForDead !== false) this.#sent.allow('offline 1', 'at most once')
    // It was written before the client had its CONNACK.
    else this.#sent.acked('offline 1')
    await this.#writeOnline(2)
  }

  async check(): Promise<readonly string[]> {
    const { round, thing, told, connection } = this.#parts
    const wrong = this.#course === 'moves' ? [...(await connection.checkFirst())] : []
    if (this.#course === 'takes leave') {
      await connection.client.untilClosed()
      // The node may have been held for dead before it read that the client has gone.
      this.#sent.allow('offline 1', round.plan.pause < 15_000 ? 'never' : 'at most once')
    }
    if (this.#course === 'is lost') wrong.push(...(await this.#untilWritten()))
    await connection.connect(round.pausing, this.#willOf(3))
    if (this.#course === 'moves') {
      this.#sent.send('offline 2', 'once')
      this.#sent.acked('offline 2')
    }
    await this.#writeOnline(3)
    return [...wrong, ...(await checkViews({ nodes: round.nodes, thing, key, sent: this.#sent, told }))]
  }

  async end(): Promise<void> {
    await this.#started?.connection.end()
    await this.#started?.told.end()
  }

  get #parts(): Started {
    if (!this.#started) throw new Error('it has not begun')
    return this.#started
  }

  #willOf(number: number) {
    const { thingId } = this.#parts.thing
    const payload = JSON.stringify({ values: [{ key, value: `offline ${number}` }] })
    return { will: { topic: `things/${thingId}/write`, payload, qos: 1 } } as const
  }

  async #writeOnline(number: number): Promise<void> {
    const { thing, connection } = this.#parts
    const value = `online ${number}`
    this.#sent.send(value, 'once')
    await connection.client.publish(`things/${thing.thingId}/write`, { values: [{ key, value }] })
    this.#sent.acked(value)
  }

  #untilWritten(): Promise<readonly string[]> {
    const { round, thing } = this.#parts
    const value = 'offline 1'
    return untilNothingWrong(async () => {
      const stored = await storedIn(round.other, thing, key)
      if (!stored.includes(value))
        return [`${value} of ${thing.thingId} is not written: stored ${stored.join(', ')}`]
      this.#sent.acked(value)
      return []
    }, writtenWithin)
  }
}
