import { Changes } from '../../helpers/changes.ts'
import type { Thing } from '../../helpers/http-client.ts'
import { connectMqtt, type Message, type MqttClient } from '../../helpers/mqtt-client.ts'
import { SequenceCheck } from '../ledger.ts'
import type { Count } from './counter.ts'

/** For the server to let it in, milliseconds: it may have much to apply. */
const deadline = 60_000

/** A persistent session on `values/$count` of one thing: every state of it is delivered, once and in order. */
export class CountWatcher {
  readonly #thing: Thing
  readonly #check: SequenceCheck
  readonly #violations: string[] = []
  #client: MqttClient | undefined
  /** A CONNECT that is refused for being late, or has no answer, may have made one. */
  #session: 'none' | 'perhaps' | 'there' = 'none'
  #isSubscribed = false
  readonly #changes = new Changes()

  constructor(thing: Thing) {
    this.#thing = thing
    this.#check = new SequenceCheck(`watcher of ${thing.thingId}`)
  }

  /** How many changes were delivered. */
  get seen(): number {
    return this.#check.next
  }

  get violations(): readonly string[] {
    return [...this.#violations, ...this.#check.violations]
  }

  /** @throws Error if the server does not let it in */
  async connect(url: string): Promise<void> {
    const { thingId, thingToken } = this.#thing
    const before = this.#session
    if (before === 'none') this.#session = 'perhaps'
    this.#check.connected()
    const client = await connectMqtt({
      ...{ url, clientId: 'watcher', clean: false, username: 'watcher', password: thingToken },
      deadline,
      onMessage: message => this.#take(message),
    })
    const { returnCode, sessionPresent } = client.connack
    if (returnCode !== 0) throw new Error(`watcher of ${thingId}: CONNACK ${returnCode}`)
    if (before !== 'perhaps' && sessionPresent !== (before === 'there')) {
      this.#violations.push(`watcher of ${thingId}: session present is ${sessionPresent}`)
    }
    this.#session = 'there'
    this.#client = client
    if (!this.#isSubscribed) await client.subscribe(this.#topic)
    this.#isSubscribed = true
  }

  /** Ends the connection without a word. */
  async leave(): Promise<void> {
    await this.#client?.destroy()
  }

  /** Whether the message of this many changes comes within this time, milliseconds. */
  async until(changes: number, time: number): Promise<boolean> {
    await this.#changes.until(() => this.#check.next >= changes, time)
    return this.#check.next === changes
  }

  get #topic(): string {
    return `things/${this.#thing.thingId}/values/$count`
  }

  #take({ topic, payload, retain }: Message): void {
    if (retain || topic !== this.#topic) return
    const { value } = JSON.parse(payload.toString()) as { value: Count }
    this.#check.take(value.applied - 1)
    this.#changes.tell()
  }
}
