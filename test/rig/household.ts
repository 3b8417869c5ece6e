import { ask, readAll, type ServerAddress, type Thing } from '../helpers/http-client.ts'
import { type Plan, type PlannedWrite, wayLetters } from './writes.ts'

/** In so many messages there is one that announces devices. */
const betweenDiscoveries = 20

/** What a device publishes by itself. */
type Reading = Pick<Plan, 'run' | 'way' | 'place' | 'number'>

/**
 * The devices of a source. Each client of it publishes for two: a Zigbee device, of which the list of devices says that it has another
 * name than before, and a Tasmota. Whether a device is read first or announced first, is chance.
 */
export class Household {
  /** The source, for those that want a thing. */
  readonly credential: Thing
  /** Friendly names of the Zigbee devices, by place. */
  readonly #names: string[]

  private constructor(sourceToken: string, places: number) {
    this.credential = { thingId: '', thingToken: sourceToken }
    this.#names = Array.from({ length: places }, (_, place) => `room/z${place}`)
  }

  /** @param places of its clients */
  static async create(server: ServerAddress, places: number): Promise<Household> {
    const source = await ask<{ sourceToken: string }>(server, 'POST', '/v2/admin/sources', { name: 'house' })
    return new Household(source.sourceToken, places)
  }

  /** Two devices swap their names. Nothing may be on its way, and every node has to get a list before anything else. */
  swapNames(): void {
    const [one, other] = [0, 1].map(() => Math.floor(Math.random() * this.#names.length))
    const names = [this.#names[other ?? 0] ?? '', this.#names[one ?? 0] ?? '']
    for (const [index, place] of [one, other].entries()) this.#names[place ?? 0] = names[index] ?? ''
  }

  plan(reading: Reading): PlannedWrite {
    if (Math.random() < 1 / betweenDiscoveries) return this.announce(reading)
    const { way, place, number } = reading
    const name = nameOf(reading)
    const values = [`${name}-0`, `${name}-1`]
    const members = { one: values[0], other: values[1] }
    const now = new Date().toISOString()
    // One of two carries a time that counts; that of the others is in the zone of the device, whatever that is.
    const isTimed = Math.random() < 0.5
    const isZigbee = number % 2 === 0
    const time = isZigbee
      ? isTimed && { last_seen: now.replace('Z', '+00:00') }
      : { Time: isTimed ? now : now.slice(0, 19) }
    const topic = isZigbee ? `zigbee2mqtt/${this.#names[place]}` : `tele/t${place}/SENSOR`
    const body = JSON.stringify({ ...members, ...time })
    return { name, way, thing: 0, body, values, repeatable: isTimed, topic }
  }

  /** Of devices that may be known already. */
  announce(reading: Reading): PlannedWrite {
    const { way, place, number } = reading
    const [topic, described] =
      number % 2 === 0
        ? ['zigbee2mqtt/bridge/devices', this.#names.map(describe)]
        : [
            `tasmota/discovery/00AA${place}/config`,
            { dn: `T ${place}`, t: `t${place}`, ft: '%prefix%/%topic%/', tp: ['cmnd', 'stat', 'tele'] },
          ]
    const body = JSON.stringify(described)
    return { name: nameOf(reading), way, thing: 0, body, values: [], repeatable: true, topic, retain: true }
  }

  /** What a client publishes first on each connection, always the same, with RETAIN. */
  repeat(reading: Reading): PlannedWrite {
    const { way, place } = reading
    const value = `kept-${wayLetters['MQTT 5, QoS 1']}-${place}-1-0`
    const topic = `tele/t${place}/STATE`
    const body = JSON.stringify({ kept: value })
    return {
      name: nameOf(reading),
      way,
      thing: 0,
      body,
      values: [value],
      repeatable: true,
      topic,
      retain: true,
    }
  }

  /** Every value that is stored, and in words each device that has not one thing. */
  async look(
    server: ServerAddress,
  ): Promise<{ readonly values: string[]; readonly wrong: readonly string[] }> {
    const { things } = await ask<{ things: readonly Thing[] }>(server, 'GET', '/v2/admin/things?limit=1000')
    const values: string[] = []
    const thingsOf = new Map<string, Set<string>>()
    const devicesOf = new Map<string, Set<string>>()
    for (const { thingId } of things) {
      const path = `/v2/things/${thingId}/resources`
      const { resources } = await ask<{ resources: readonly string[] }>(server, 'GET', path)
      for (const key of resources.filter(each => each !== '$meta')) {
        for (const { value } of await readAll(
          server,
          { thingId, thingToken: thingId },
          key,
          server.adminKey,
        )) {
          values.push(String(value))
          const [, , place, number] = String(value).split('-')
          const device = `${Number(number) % 2 === 0 ? 'z' : 't'}${place}`
          thingsOf.set(device, (thingsOf.get(device) ?? new Set()).add(thingId))
          devicesOf.set(thingId, (devicesOf.get(thingId) ?? new Set()).add(device))
        }
      }
    }
    const several = (found: ReadonlyMap<string, ReadonlySet<string>>) =>
      [...found].filter(([, { size }]) => size > 1)
    return {
      values,
      wrong: [...several(thingsOf), ...several(devicesOf)].map(
        ([one, all]) => `${one} has ${[...all].join()}`,
      ),
    }
  }
}

function describe(name: string, place: number): object {
  const exposes = [{ type: 'text', property: 'one', label: 'One', access: 1 }]
  return { ieee_address: `0x${place}`, friendly_name: name, type: 'Router', definition: { exposes } }
}

function nameOf({ run, way, place, number }: Reading): string {
  return `${run}-${wayLetters[way]}-${place}-${number}`
}
