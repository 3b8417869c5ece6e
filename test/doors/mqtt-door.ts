import assert from 'node:assert/strict'
import type { Answer, ClientWrite, Door } from './door.ts'
import { MqttWriter, type MqttWriterOptions } from './mqtt-writer.ts'
import type { RefusedWrite } from './read-back.ts'
import type { Service } from './service.ts'

/**
 * The MQTT door for the writes of one thing. Flags and the write id travel in the body: there is nowhere else. What a
 * client of this door cannot learn is which records of a `partial` write were refused.
 */
export function mqttDoor(service: Service, options: MqttWriterOptions): Door {
  let opened: Promise<MqttWriter> | undefined
  return {
    kind: 'mqtt',
    write: async (thing, write) => {
      opened ??= MqttWriter.open(service, thing, options)
      const writer = await opened
      const refused = await writer.write(bytesOf(write))
      return refused ? refusalOf(refused) : { created: true }
    },
    close: async () => (await opened)?.close(),
  }
}

function bytesOf({ body, options }: ClientWrite): Buffer {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    return Buffer.from(JSON.stringify({ ...body, ...options }))
  }
  assert(options === undefined, 'options have no place beside a body that is no object')
  return Buffer.from(body)
}

function refusalOf({ reason, errors }: RefusedWrite): Answer {
  const refused = { refused: reason }
  if (!errors) return refused
  return { ...refused, errors: errors.map(({ index, field, reason }) => ({ index, field, reason })) }
}
