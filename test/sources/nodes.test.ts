import { expect, it } from 'vitest'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { redisOfTests } from '../helpers/redis-of-test.ts'
import { bridgeDevices, House } from './house.ts'

const redis = redisOfTests()
const limits = { writesPerSecond: 1_000_000, recordsPerSecond: 1_000_000 }
const places = Array.from({ length: 50 }, (_, place) => place)

it('a device that is announced at one node while it is read at another one has one thing', async () => {
  const options = () => ({ store: createRedisStore({ url: redis.url }), limits })
  const house = await House.open(options())
  const bridge = await house.connect('bridge')
  await house.moveTo(options())
  const hub = await house.connect('hub')
  const names = places.map(place => `z${place}`)
  const others = Array.from({ length: 250 }, (_, place) => `other${place}`)
  const listed = Object.fromEntries([...others, ...names].map(name => [`0x${name}`, name]))
  const read = (value: number) =>
    places.map(place => hub.publishAsync(`zigbee2mqtt/z${place}`, `{"power":${value}}`, { qos: 1 }))
  const values = Array.from({ length: 20 }, (_, index) => index)
  await Promise.all(read(0))
  const announced = bridge.publishAsync('zigbee2mqtt/bridge/devices', bridgeDevices(listed), { qos: 1 })
  for (const value of values.slice(1)) await Promise.all(read(value))
  await announced
  const records = await house.records()
  expect(Object.keys(records).toSorted()).toEqual(names.toSorted())
  for (const { power } of Object.values(records)) expect(power).toEqual(values)
})
