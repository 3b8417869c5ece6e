import { type Thing, write } from '../helpers/http-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** One for all records, so that REST gives them in the order in which they were written. */
const datetime = '20260101000000'

const httpInFlight = 8

/** The body of a write of `n`. */
export const writeOf = (value: number) => ({ values: [{ key: 'n', datetime, value }] })

/** Writes the values of `n` from `from` on, `to` exclusive, half over HTTP and half over MQTT, there at every QoS. */
export async function writeBothDoors(
  server: ServerProcess,
  thing: Thing,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const device = await mqttOfTest({ url: server.mqttUrl })
  const topic = `things/${thing.thingToken}/write`
  const values = Array.from({ length: to - from }, (_, index) => from + index)
  const waiting = values.filter(value => value % 2 === 0).values()
  const overHttp = async () => {
    for (const value of waiting) await write(server, thing, writeOf(value))
  }
  const overMqtt = async () => {
    const own = values.filter(value => value % 2 === 1)
    await Promise.all(own.map(value => device.publish(topic, writeOf(value), { qos: qosOf(value) })))
    // Those at QoS 0 are stored before this one, of which nobody is told.
    await device.publish(topic, { values: [{ key: 'end', value: to }], broadcast: false })
  }
  await Promise.all([overMqtt(), ...Array.from({ length: httpInFlight }, overHttp)])
}

function qosOf(value: number): 0 | 1 | 2 {
  return value % 3 === 0 ? 0 : value % 3 === 1 ? 1 : 2
}
