import { createThing, type Thing } from '../../helpers/http-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { untilNothingWrong } from '../participant.ts'
import { difference } from './difference.ts'
import { LiveValues } from './live-values.ts'
import type { PauseClient } from './pause-client.ts'
import type { PausedRound } from './paused-round.ts'
import { checkViews, settledWithin, storedIn } from './resource-views.ts'
import { SentWrites } from './sent-writes.ts'

const key = 'lamp'
/** Of writes through both nodes, before and after the pause. */
const pairs = 10

interface Started {
  readonly round: PausedRound
  readonly thing: Thing
  readonly told: LiveValues
  /** At the paused node. */
  readonly staying: LiveValues
}

/** A lamp that is switched over HTTP through both nodes at nearly the same time, and then through one after the other. */
export class Lamp implements PauseClient {
  readonly name = 'lamp over HTTP'
  readonly #sent = new SentWrites()
  #started: Started | undefined
  #number = 0
  readonly #answers: Promise<unknown>[] = []
  /** The value that comes to both nodes under one id. */
  #twice = ''

  async begin(round: PausedRound): Promise<void> {
    const thing = await createThing(round.other)
    const told = await LiveValues.at(round.other, thing)
    this.#started = { round, thing, told, staying: await LiveValues.at(round.pausing, thing) }
    await this.#switchThroughBoth()
  }

  sendInFlight(): void {
    const { pausing, other } = this.#parts.round
    this.#answers.push(this.#switch(pausing), this.#switch(other))
  }

  /** One of them under an id, under which it comes to the other node, too. */
  sendWhilePaused(): void {
    const { pausing } = this.#parts.round
    this.#answers.push(this.#switch(pausing))
    this.#twice = this.#next()
    this.#answers.push(this.#post(pausing, this.#twice, 'twice'))
  }

  async move(): Promise<void> {
    const { other } = this.#parts.round
    await this.#post(other, this.#twice, 'twice')
    for (let count = 0; count < 3; count++) await this.#switch(other)
  }

  async check(): Promise<readonly string[]> {
    const { round, thing, told, staying } = this.#parts
    await Promise.all(this.#answers)
    await this.#switchThroughBoth()
    return [
      ...(await checkViews({ nodes: round.nodes, thing, key, sent: this.#sent, told })),
      ...(await untilNothingWrong(async () => {
        const stored = await storedIn(round.other, thing, key)
        const live = staying.of(key).map(String)
        const wanted = staying.isClosed ? stored.slice(0, live.length) : stored
        return difference(['stored', wanted], ['told live at the node that was paused', live])
      }, settledWithin)),
    ]
  }

  async end(): Promise<void> {
    await this.#started?.told.end()
    await this.#started?.staying.end()
  }

  get #parts(): Started {
    if (!this.#started) throw new Error('it has not begun')
    return this.#started
  }

  async #switchThroughBoth(): Promise<void> {
    const { pausing, other } = this.#parts.round
    for (let count = 0; count < pairs; count++)
      await Promise.all([this.#switch(pausing), this.#switch(other)])
    for (const server of [pausing, other, pausing, other]) await this.#switch(server)
  }

  /** Resolves when it is answered. */
  async #switch(server: ServerProcess): Promise<void> {
    await this.#post(server, this.#next())
  }

  #next(): string {
    const value = `${this.#number % 2 === 0 ? 'on' : 'off'} ${++this.#number}`
    // Of one that is not acknowledged nobody knows.
    this.#sent.send(value, 'at most once', value)
    return value
  }

  /** @returns whether it was acknowledged */
  async #post(server: ServerProcess, value: string, id?: string): Promise<boolean> {
    const { thing } = this.#parts
    const body = JSON.stringify({ values: [{ key, value }], ...(id === undefined ? {} : { id }) })
    const isAcked = await fetch(`${server.url}/v2/things/${thing.thingToken}`, { method: 'POST', body }).then(
      async response => {
        await response.arrayBuffer()
        return response.status === 201
      },
      () => false,
    )
    if (isAcked) {
      this.#sent.acked(value)
      this.#sent.allow(value, 'once')
    }
    return isAcked
  }
}
