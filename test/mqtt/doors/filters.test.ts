import { describe, expect, it } from 'vitest'
import { createThingId, createToken } from '../../../src/core/token.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, topicsReceived } from '../door-service.ts'

const no = 128

/** T, I: token and id of the thing; U, J: of another; X, Y: of none. Each: thing, anonymous, admin. */
const filters: readonly [filter: string, thing: number, anonymous: number, admin: number][] = [
  ['things/T/errors', 1, 1, 1],
  ['things/I/errors', 1, no, 1],
  ['things/T/values/temperature', 1, 1, 1],
  ['things/I/values/temperature', 1, no, 1],
  ['things/T/values/$geo', 1, 1, 1],
  ['things/I/values/$settings', 1, no, 1],
  ['things/T/values/+', 1, 1, 1],
  ['things/I/values/+', 1, no, 1],
  ['things/T/values/#', 1, 1, 1],
  ['things/T/+', 1, 1, 1],
  ['things/I/+/+', 1, no, 1],
  ['things/T/+/temperature', 1, 1, 1],
  ['things/T/#', 1, 1, 1],
  ['things/I/#', 1, no, 1],
  ['things/T/date', 1, 1, 1],
  ['things/I/date', 1, no, 1],
  ['things/T/limits', 1, 1, 1],
  ['things/I/limits', 1, no, 1],
  ['things/T/write', 1, 1, 1],
  ['things/I/write', 1, no, 1],
  ['things/T/a/topic/that/is/not/there', 1, 1, 1],
  ['v2/things/T', 1, 1, 1],
  ['v2/things/I', 1, no, 1],
  ['things/U/errors', no, 1, 1],
  ['things/J/errors', no, no, 1],
  ['things/J/values/+', no, no, 1],
  ['things/J/#', no, no, 1],
  ['v2/things/U', no, 1, 1],
  ['v2/things/J', no, no, 1],
  ['things/X/errors', no, no, no],
  ['things/X/#', no, no, no],
  ['v2/things/X', no, no, no],
  ['things/Y/errors', no, no, no],
  ['v2/things/Y', no, no, no],
  ['things/+/errors', no, no, 1],
  ['things/+/values/+', no, no, 1],
  ['things/+/values/temperature', no, no, 1],
  ['things/+/#', no, no, 1],
  ['v2/things/+', no, no, 1],
  ['#', no, no, no],
  ['+', no, no, no],
  ['+/#', no, no, no],
  ['+/+', no, no, no],
  ['+/T/errors', no, no, no],
  ['+/I/errors', no, no, no],
  ['+/+/errors', no, no, no],
  ['things', no, no, no],
  ['things/#', no, no, no],
  ['things/', no, no, no],
  ['things//errors', no, no, no],
  ['things/session', no, no, no],
  ['things/T ', no, no, no],
  ['Things/T/errors', no, no, no],
  ['/things/T/errors', no, no, no],
  ['things/I /errors', no, no, no],
  ['v2', no, no, no],
  ['v2/#', no, no, no],
  ['v2/+', no, no, no],
  ['v2/+/T', no, no, no],
  ['v2/things/#', no, no, no],
  ['v1/things/T', no, no, no],
  ['$SYS/#', no, no, no],
  ['$SYS/+/new/clients', no, no, no],
  ['$SYS/+/T/#', no, no, no],
  ['$share/group/things/T/errors', no, no, no],
  ['$share/group/#', no, no, no],
  ['$things/T/errors', no, no, no],
  ['sensors/temperature', no, no, no],
  ['T', no, no, no],
  ['I/errors', no, no, no],
]

/** MQTT-4.7.1-2, -3 and -4.7.3-1. */
const malformed = ['things/T/#/errors', 'things/T/a#', 'things/T/a+', 'things/T/+a/b', 'things/T/#a', '']

async function start() {
  const service = await DoorService.start()
  const [thing, other] = [await service.createThing(), await service.createThing()]
  const words: Record<string, string> = {
    T: thing.thingToken,
    I: thing.thingId,
    U: other.thingToken,
    J: other.thingId,
    X: createToken(),
    Y: createThingId(),
  }
  const spell = (filter: string) => filter.replace(/\b[TIUJXY]\b/g, word => words[word] ?? word)
  const connect = {
    thing: () => service.connectThing(thing),
    anonymous: () => service.connect(),
    admin: () => service.connect({ username: 'operator', password: service.adminKey }),
  }
  return { service, thing, other, spell, connect }
}

describe('SUBSCRIBE', () => {
  it.each(['thing', 'anonymous', 'admin'] as const)(
    'of %s is granted the filters of contract §7 and no others, each for itself and all in one packet',
    async who => {
      const { spell, connect } = await start()
      const place = ['thing', 'anonymous', 'admin'].indexOf(who)
      const expected = filters.map(([filter, ...codes]) => [filter, codes[place]])
      const each: unknown[] = []
      for (const [filter] of filters) {
        const client = await connect[who]()
        each.push([filter, await client.subscribe(spell(filter))])
        await client.disconnect()
      }
      expect(each).toEqual(expected)
      const codes = await (await connect[who]()).subscribeAll(filters.map(([filter]) => spell(filter)))
      expect(filters.map(([filter], index) => [filter, codes[index]])).toEqual(expected)
    },
  )

  it.each([0, 1, 2] as const)('at QoS %i is granted that', async qos => {
    const { spell, connect } = await start()
    for (const who of [connect.thing, connect.anonymous, connect.admin]) {
      expect(await (await who()).subscribe(spell('things/T/errors'), qos)).toBe(qos)
    }
  })

  it.each(malformed)('of the malformed filter "%s" is granted to nobody', async filter => {
    const { spell, connect } = await start()
    const end = (client: MqttClient) => client.untilClosed().then(() => no)
    for (const who of [connect.thing, connect.anonymous, connect.admin]) {
      const client = await who()
      // A protocol violation may also end the connection (MQTT-4.8.0-1).
      expect(await client.subscribe(spell(filter)).catch(() => end(client))).toBe(no)
      expect(topicsReceived(client)).toEqual([])
    }
  })
})
