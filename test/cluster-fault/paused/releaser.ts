import type { Thing } from '../../helpers/http-client.ts'
import { isOf, publishPacket } from '../../helpers/mqtt-client.ts'
import { PauseClient } from './pause-client.ts'

const messageId = 1

/**
 * A persistent session with one packet id: its PUBREL lies in the socket of the paused node, the other node gets it too, and
 * then a new write under that id, which is not released when the paused node goes on.
 */
export class Releaser extends PauseClient {
  readonly name = 'PUBREL'

  protected optionsOf({ thingToken }: Thing) {
    return { clientId: 'releaser', clean: false, username: 'device', password: thingToken }
  }

  protected async start({ connection }: PauseClient['begun']): Promise<void> {
    await connection.begin()
    await this.#publish(1, false)
  }

  sendWhilePaused(): void {
    this.begun.connection.client.send({ cmd: 'pubrel', messageId })
  }

  async move(): Promise<void> {
    const { connection } = this.begun
    await connection.move()
    connection.takenOver()
    await connection.client.release(messageId)
    await this.#publish(2, false)
  }

  async check(): Promise<readonly string[]> {
    const { round, connection } = this.begun
    const wrong = await connection.checkFirst(`pubcomp ${messageId}`)
    // The node that was paused has to know by the store that it has the write.
    await connection.connect(round.pausing)
    await this.#publish(2, true)
    await connection.client.release(messageId)
    await this.#publish(3, false)
    await connection.client.release(messageId)
    return [...wrong, ...(await this.checkViews('v'))]
  }

  /** Until PUBREC. */
  async #publish(value: number, dup: boolean): Promise<void> {
    const { thing, connection } = this.begun
    const { client } = connection
    const body = { values: [{ key: 'v', value }] }
    if (!dup) this.sent.send(String(value), 'once')
    client.send(publishPacket(`things/${thing.thingId}/write`, body, { qos: 2, dup, messageId }))
    await client.next(isOf('pubrec', messageId))
    this.sent.acked(String(value))
  }
}
