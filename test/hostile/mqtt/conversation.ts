import type { Random } from '../../helpers/random.ts'
import {
  acknowledge,
  connect,
  connectAnonymous,
  connectFlags,
  disconnect,
  type Publish,
  pingreq,
  publish,
  subscribe,
  thingId,
  token,
  types,
  unsubscribe,
  writeTopic,
} from './bytes.ts'

/** A session that is kept, with a will of QoS 2. */
const keptWithWill = connectFlags.username | connectFlags.will | (2 << 3)

const connects = [
  () => connect(),
  () => connect({ clientId: 'device', password: token, username: 'device', keepAlive: 60 }),
  () => connect({ clientId: 'back', flags: connectFlags.username }),
  () => connect({ clientId: 'old', name: 'MQIsdp', level: 3 }),
  () => connect({ clientId: 'will', will: { topic: writeTopic, qos: 1 } }),
  () => connect({ clientId: 'format', will: { topic: `${writeTopic}/value/hostile`, qos: 1 } }),
  () => connect({ clientId: 'house', flags: keptWithWill, will: { topic: 'house/will' } }),
  () => connectAnonymous,
] as const

const bodies = [
  '{"values":[{"key":"hostile","value":1}]}',
  '{"values":[{"key":"hostile","value":"text","datetime":"20261121093000","geo":{"lat":41.4,"long":2.2}}]}',
  '{"values":[{"key":"$geo","value":[2.2,41.4]},{"key":"$settings.name","value":"x"}]}',
  '{"values":[{"key":"a","value":{"b":[1,2,3]}},{"key":"c","value":true}],"store":false}',
  '{"id":"once","values":[{"key":"hostile","value":-1.5e3}]}',
  '21.5',
  'hostile,a=b c=1,d="e f" 1465839830100400200',
] as const
const topics = [
  writeTopic,
  `v2/things/${token}`,
  `things/${thingId}/write`,
  `${writeTopic}/value/hostile/a`,
  `${writeTopic}/json`,
  `${writeTopic}/influx`,
  `things/${token}/values/a`,
  'house/state',
  'house/a//b',
] as const
const filters = [
  `things/${token}/values/+`,
  `things/${token}/#`,
  `things/${thingId}/values/hostile`,
  `things/${token}/errors`,
  `v2/things/${token}`,
  `things/${token}/date`,
  'house/state',
  'house/+/#',
] as const

const steps: readonly [(random: Random) => Buffer[], ...((random: Random) => Buffer[])[]] = [
  random => [publish(randomPublish(random, 0))],
  random => [publish(randomPublish(random, 1))],
  random => [publish({ ...randomPublish(random, 1), isRetained: true })],
  random => {
    const packetId = 1 + random.below(4)
    return [publish({ ...randomPublish(random, 2), packetId }), acknowledge(types.pubrel, packetId)]
  },
  random => [subscribe([random.pick(filters), random.below(3)])],
  random => [subscribe([random.pick(filters), 1], [random.pick(filters), 0], '$SYS/#')],
  random => [unsubscribe(random.pick(filters))],
  random => [acknowledge(types.puback, 1 + random.below(4))],
  () => [pingreq],
]

function randomPublish(random: Random, qos: 0 | 1 | 2): Publish {
  return { topic: random.pick(topics), payload: random.pick(bodies), qos, packetId: 1 + random.below(4) }
}

/** The packets of a client that does nothing wrong, with placeholders in the place of its secrets. */
export function conversation(random: Random): Buffer[] {
  const packets = [random.pick(connects)()]
  for (let count = 1 + random.below(6); count > 0; count--) packets.push(...random.pick(steps)(random))
  if (random.chance(0.5)) packets.push(disconnect)
  return packets
}
