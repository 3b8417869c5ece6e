import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn, type MqttClient } from '../helpers/mqtt-client.ts'
import type { Count } from './counter.ts'
import { SequenceCheck } from './sequence-check.ts'

/** A connection may be silent for as long as a load lasts, milliseconds. */
const silence = 600_000

/** A persistent session on `values/$count` of one thing: every state of it is told, once and in order. */
export class CountWatcher {
  readonly #thing: Thing
  readonly #check: SequenceCheck
  readonly #violations: string[] = []
  #client: MqttClient | undefined
  #wake: () => void = () => {}

  constructor(thing: Thing) {
    this.#thing = thing
    this.#check = new SequenceCheck(`watcher of ${thing.thingId}`)
  }

  /** How many changes were told. */
  get seen(): number {
    return this.#check.next
  }

  get violations(): readonly string[] {
    return [...this.#violations, ...this.#check.violations]
  }

  async connect(url: string): Promise<void> {
    const { thingId, thingToken } = this.#thing
    const isNew = this.#client === undefined
    const client = await connectMqtt({
      url,
      clientId: 'watcher',
      clean: false,
      username: 'watcher',
      password: thingToken,
      deadline: silence,
    })
    if (client.connack.sessionPresent === isNew) {
      this.#violations.push(`watcher of ${thingId}: session present is ${!isNew}`)
    }
    this.#client = client
    this.#check.connected()
    if (isNew) await client.subscribe(this.#topic)
    void this.#receive(client)
  }

  /** Ends the connection without a word. */
  async leave(): Promise<void> {
    await this.#client?.destroy()
  }

  /** Whether the message of this many changes comes before the deadline, milliseconds. */
  async until(changes: number, deadline: number): Promise<boolean> {
    const cancel = new AbortController()
    let isOverdue = false
    const overdue = delay(deadline, undefined, { signal: cancel.signal }).then(
      () => {
        isOverdue = true
      },
      () => {},
    )
    while (this.#check.next < changes && !isOverdue) {
      const told = new Promise<void>(resolve => {
        this.#wake = resolve
      })
      await Promise.race([told, overdue])
    }
    cancel.abort()
    return this.#check.next === changes
  }

  get #topic(): string {
    return `things/${this.#thing.thingId}/values/$count`
  }

  async #receive(client: MqttClient): Promise<void> {
    try {
      for (;;) {
        const { payload, retain } = await client.next(isMessageOn(this.#topic))
        if (retain) continue
        const { value } = JSON.parse(payload.toString()) as { value: Count }
        this.#check.take(value.applied - 1)
        this.#wake()
      }
    } catch {
      // The connection is gone.
    }
  }
}
