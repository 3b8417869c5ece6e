import { createThing, type Thing } from '../../helpers/http-client.ts'
import { isOf, publishPacket } from '../../helpers/mqtt-client.ts'
import { LiveValues } from './live-values.ts'
import { MovingConnection } from './moving-connection.ts'
import type { PauseClient } from './pause-client.ts'
import type { PausedRound } from './paused-round.ts'
import { checkViews } from './resource-views.ts'
import { SentWrites } from './sent-writes.ts'

const messageId = 1

interface Started {
  readonly round: PausedRound
  readonly thing: Thing
  readonly told: LiveValues
  readonly connection: MovingConnection
}

/**
 * A persistent session with one packet id: its PUBREL lies in the socket of the paused node, the other node gets it too, and
 * then a new write under that id, which is not released when the paused node goes on.
 */
export class Releaser implements PauseClient {
  readonly name = 'PUBREL'
  readonly #sent = new SentWrites()
  #started: Started | undefined

  async begin(round: PausedRound): Promise<void> {
    const thing = await createThing(round.other)
    const told = await LiveValues.at(round.other, thing)
    const options = { clientId: 'releaser', clean: false, username: 'device', password: thing.thingToken }
    const connection = new MovingConnection(round, options)
    this.#started = { round, thing, told, connection }
    await connection.begin()
    await this.#publish(1, false)
  }

  sendInFlight(): void {}

  sendWhilePaused(): void {
    this.#parts.connection.client.send({ cmd: 'pubrel', messageId })
  }

  async move(): Promise<void> {
    const { connection } = this.#parts
    await connection.move()
    connection.takenOver()
    await connection.client.release(messageId)
    await this.#publish(2, false)
  }

  async check(): Promise<readonly string[]> {
    const { round, thing, told, connection } = this.#parts
    const wrong = await connection.checkFirst(`pubcomp ${messageId}`)
    // The node that was paused has to know by the store that it has the write.
    await connection.connect(round.pausing)
    await this.#publish(2, true)
    await connection.client.release(messageId)
    await this.#publish(3, false)
    await connection.client.release(messageId)
    return [...wrong, ...(await checkViews({ nodes: round.nodes, thing, key: 'v', sent: this.#sent, told }))]
  }

  async end(): Promise<void> {
    await this.#started?.connection.end()
    await this.#started?.told.end()
  }

  get #parts(): Started {
    if (!this.#started) throw new Error('it has not begun')
    return this.#started
  }

  /** Until PUBREC. */
  async #publish(value: number, dup: boolean): Promise<void> {
    const { thing, connection } = this.#parts
    const { client } = connection
    const body = { values: [{ key: 'v', value }] }
    if (!dup) this.#sent.send(String(value), 'once')
    client.send(publishPacket(`things/${thing.thingId}/write`, body, { qos: 2, dup, messageId }))
    await client.next(isOf('pubrec', messageId))
    this.#sent.acked(String(value))
  }
}
