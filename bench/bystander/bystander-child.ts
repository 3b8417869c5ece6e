import type { MqttClient } from '../../test/helpers/mqtt-client.ts'
import { openLink } from '../../test/soak/mqtt-link.ts'
import { answerCommands } from '../load/commands.ts'
import { bodyOf, writeSteadily } from '../load/doors.ts'

/** A thing, in a process of its own, that writes a reading every 20 ms at QoS 1, whatever its acks do. */

const writesPerSecond = 50

interface Bystander {
  readonly url: string
  readonly thingId: string
  readonly password: string
}

let link: MqttClient
let longest = 0
let isWriting = false
let writing: Promise<void> | undefined
const closed = () => {
  longest = Number.MAX_SAFE_INTEGER
}

answerCommands({
  begin: async ({ url, thingId, password }: Bystander) => {
    link = await openLink({ url, clientId: 'bystander', password })
    longest = 0
    isWriting = true
    let value = 0
    const write = () => link.publish(`things/${thingId}/write`, bodyOf('n', value++)).catch(closed)
    const onAck = (_: number, took: number) => {
      longest = Math.max(longest, took)
    }
    writing = writeSteadily(writesPerSecond, () => isWriting, write, onAck)
  },
  /** Milliseconds of the longest ack since `begin`; more than any if the server has closed the connection. */
  end: async () => {
    isWriting = false
    await writing
    await link.destroy()
    return longest
  },
})
