import { type Thing, write } from '../../helpers/http-client.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { PauseClient } from './pause-client.ts'

/** What is told to a session that comes back: what was written while it was away, and `end`. */
const expected = 'b 3, a 3, end 1'

/**
 * A persistent session whose subscriptions and acks change at the other node. Resources: `a` is subscribed throughout, `gone`
 * until the other node has it, `b` since then, and `late` with a packet that the paused node has not read.
 */
export class Session extends PauseClient {
  readonly name = 'session'

  protected optionsOf({ thingToken }: Thing) {
    return { clientId: 'session', clean: false, username: 'app', password: thingToken }
  }

  protected async start({ round, connection }: PauseClient['begun']): Promise<void> {
    await connection.begin({ acknowledges: false })
    await connection.client.subscribeAll([this.#topic('a'), this.#topic('gone')])
    // Told, and not acknowledged.
    await this.#write(round.other, 'a', 1)
    await this.#told('a', 1)
  }

  sendWhilePaused(): void {
    const { client } = this.begun.connection
    client.send(
      { cmd: 'subscribe', messageId: 100, subscriptions: [{ topic: this.#topic('late'), qos: 1 }] },
      { cmd: 'unsubscribe', messageId: 101, unsubscriptions: [this.#topic('a')] },
    )
  }

  async move(): Promise<void> {
    const { round, connection } = this.begun
    await connection.move()
    connection.takenOver()
    const { client } = connection
    await client.subscribe(this.#topic('b'))
    await client.unsubscribe(this.#topic('gone'))
    if (connection.isTakenOver) await this.#told('a', 1)
    else await this.#subscribeAgain(client)
    await this.#write(round.other, 'a', 2)
    await this.#told('a', 2)
    // The server has read its acks.
    await client.ping()
  }

  /** What came while the session was away is that of its newest subscriptions, and nothing that was acknowledged. */
  async check(): Promise<readonly string[]> {
    const { round, connection } = this.begun
    const wrong = await connection.checkFirst()
    await connection.client.disconnect()
    for (const key of ['late', 'gone', 'b', 'a']) await this.#write(round.other, key, 3)
    await connection.connect(round.pausing)
    const { client } = connection
    const isPresent = client.connack.sessionPresent
    // It comes last, whatever is subscribed.
    await client.subscribe(this.#topic('end'))
    await this.#write(round.other, 'end', 1)
    await this.#told('end', 1)
    const got = toldTo(client).join(', ')
    return [
      ...wrong,
      ...(isPresent ? [] : ['the session is not present']),
      ...(got === expected ? [] : [`the session was told ${got}, expected ${expected}`]),
    ]
  }

  /** What it has sent to the first node may have been executed before the other one had the session. */
  async #subscribeAgain(client: MqttClient): Promise<void> {
    await client.subscribe(this.#topic('a'))
    await client.unsubscribe(this.#topic('late'))
  }

  #topic(key: string): string {
    return `things/${this.begun.thing.thingId}/values/${key}`
  }

  async #write(server: ServerProcess, key: string, value: number): Promise<void> {
    const { status } = await write(server, this.begun.thing, { values: [{ key, value }] })
    if (status !== 201) throw new Error(`${key} ${value}: ${status}`)
  }

  /** Resolves when it has come over the latest connection. */
  async #told(key: string, value: number): Promise<void> {
    await this.begun.connection.client.next(
      packet => packet.cmd === 'publish' && !packet.retain && textOf(packet) === `${key} ${value}`,
    )
  }
}

function toldTo({ received }: MqttClient): string[] {
  return received.flatMap(packet => (packet.cmd === 'publish' && !packet.retain ? [textOf(packet)] : []))
}

function textOf({ topic, payload }: { readonly topic: string; readonly payload: string | Buffer }): string {
  const { value } = JSON.parse(payload.toString()) as { value: unknown }
  return `${topic.slice(topic.lastIndexOf('/') + 1)} ${value}`
}
