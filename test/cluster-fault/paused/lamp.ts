import type { ServerProcess } from '../../helpers/server-process.ts'
import { untilNothingWrong } from '../participant.ts'
import { difference } from './difference.ts'
import { LiveValues } from './live-values.ts'
import { PauseClient } from './pause-client.ts'
import { settledWithin, storedIn } from './resource-views.ts'

const key = 'lamp'
/** Of writes through both nodes, before and after the pause. */
const pairs = 10

/** A lamp that is switched over HTTP through both nodes at nearly the same time, and then through one after the other. */
export class Lamp extends PauseClient {
  readonly name = 'lamp over HTTP'
  /** Told at the paused node. */
  #staying: LiveValues | undefined
  #number = 0
  readonly #answers: Promise<unknown>[] = []
  /** The value that comes to both nodes under one id. */
  #twice = ''

  /** Of no connection: it writes over HTTP. */
  protected optionsOf() {
    return {}
  }

  protected async start({ round, thing }: PauseClient['begun']): Promise<void> {
    this.#staying = await LiveValues.at(round.pausing, thing)
    await this.#switchThroughBoth()
  }

  override sendInFlight(): void {
    const { pausing, other } = this.begun.round
    this.#answers.push(this.#switch(pausing), this.#switch(other))
  }

  /** One of them under an id, under which it comes to the other node, too. */
  sendWhilePaused(): void {
    const { pausing } = this.begun.round
    this.#answers.push(this.#switch(pausing))
    this.#twice = this.#next()
    this.#answers.push(this.#post(pausing, this.#twice, 'twice'))
  }

  async move(): Promise<void> {
    const { other } = this.begun.round
    await this.#post(other, this.#twice, 'twice')
    for (let count = 0; count < 3; count++) await this.#switch(other)
  }

  async check(): Promise<readonly string[]> {
    const { round, thing } = this.begun
    const staying = this.#staying
    await Promise.all(this.#answers)
    await this.#switchThroughBoth()
    return [
      ...(await this.checkViews(key)),
      ...(await untilNothingWrong(async () => {
        const stored = await storedIn(round.other, thing, key)
        const live = (staying?.of(key) ?? []).map(String)
        const wanted = staying?.isClosed ? stored.slice(0, live.length) : stored
        return difference(['stored', wanted], ['told live at the node that was paused', live])
      }, settledWithin)),
    ]
  }

  override async end(): Promise<void> {
    await super.end()
    await this.#staying?.end()
  }

  async #switchThroughBoth(): Promise<void> {
    const { pausing, other } = this.begun.round
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
    this.sent.send(value, 'at most once', value)
    return value
  }

  /** @returns whether it was acknowledged */
  async #post(server: ServerProcess, value: string, id?: string): Promise<boolean> {
    const { thing } = this.begun
    const body = JSON.stringify({ values: [{ key, value }], ...(id === undefined ? {} : { id }) })
    const isAcked = await fetch(`${server.url}/v2/things/${thing.thingToken}`, { method: 'POST', body }).then(
      async response => {
        await response.arrayBuffer()
        return response.status === 201
      },
      () => false,
    )
    if (isAcked) {
      this.sent.acked(value)
      this.sent.allow(value, 'once')
    }
    return isAcked
  }
}
