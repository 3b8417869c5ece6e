import type { LoadResult, Marks, Phases } from './load.ts'
import { measure } from './measure.ts'

const program = new URL('mqtt-writers-child.ts', import.meta.url)

export interface MqttWrites {
  readonly host: string
  /** Connection i goes to `ports[i % ports.length]`. */
  readonly ports: readonly number[]
  readonly connections: number
  /** Of connection i the client id is `<prefix><i>`. */
  readonly clientIdPrefix: string
  readonly username?: string
  readonly password?: string
  /** Connection i publishes to `topics[i % topics.length]`. */
  readonly topics: readonly string[]
  readonly payload: string
  readonly qos: 0 | 1
  /**
   * Publishes on their way, per connection, 1..65,535. A closed loop keeps it at that; in an open one more than that end the
   * run. At QoS 0 a PINGREQ behind each half of it tells when the server has read them: without a bound the buffers of the
   * kernel would hold millions.
   */
  readonly window: number
  /** Writes a second over all connections, at random times, whatever is acked. Absent: a closed loop. */
  readonly rate?: number
  /** Of an open loop: least milliseconds from one look at what is due to the next. Default 0, which takes a whole core. */
  readonly rest?: number
}

/**
 * Publishes from a process of its own, over MQTT 3.1.1.
 *
 * @throws Error if a connection is refused or closed, or anything but acks is received
 */
export async function writeMqtt(writes: MqttWrites, phases: Phases, marks: Marks): Promise<LoadResult> {
  return await measure(program, writes, phases, marks)
}
