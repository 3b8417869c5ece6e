import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import type { Thing } from '../../helpers/http-client.ts'
import { DoorService, eventually } from '../door-service.ts'

const topics = ['house/#', 'garden/#']
const own: readonly TopicGrant[] = [
  { filter: 'house/one/#', access: 'read' },
  { filter: 'house/two/#', access: 'write' },
]

const listOf = async (service: DoorService, { thingId }: Thing) => {
  const list = await service.things.refused.list(thingId, 100)
  return list.map(({ reason, message }) => `${reason}: ${message}`)
}

async function start(grants: readonly TopicGrant[] = own) {
  const service = await DoorService.start({ topics })
  const thing = await service.createThing()
  await service.things.registry.setTopics(thing.thingId, grants)
  return { service, thing, device: await service.connectThing(thing, { clientId: 'board' }) }
}

describe('a publish on another topic that was not given', () => {
  it('is listed with the topics that the thing has, and how it gets others', async () => {
    const { service, thing, device } = await start()
    await device.publish('house/one/x', 'ON')
    expect(await listOf(service, thing)).toEqual([
      'not_a_write_topic: this client may not publish on `house/one/x`: the topics that it may publish on are house/two/#. ' +
        `\`thingwire things topics ${thing.thingId} --write-topic …\` replaces all its topics.`,
    ])
  })

  it('is listed with none where the thing has none', async () => {
    const { service, thing, device } = await start([])
    await device.publish('garden/x', 'ON')
    expect(await listOf(service, thing)).toEqual([
      expect.stringContaining(
        'may not publish on `garden/x`: it may publish on no topics besides those of things.',
      ),
    ])
  })

  it.each(['tele/x', '$SYS/x'])('is listed as outside of the option topics: %s', async topic => {
    const { service, thing, device } = await start()
    await device.publish(topic, 'ON')
    expect(await listOf(service, thing)).toEqual([
      `not_a_write_topic: this client may not publish on \`${topic}\`: not within the option \`topics\` of the server or the topics of a source.`,
    ])
  })

  it('is listed without a token in it', async () => {
    const { service, thing, device } = await start()
    await device.publish(`house/${thing.thingToken}/x`, 'ON')
    expect(await listOf(service, thing)).toEqual([expect.stringContaining('`house/[redacted]/x`')])
  })
})

describe('a SUBSCRIBE to another topic that was not given', () => {
  it('is on the list of the thing with filter and client id', async () => {
    const { service, thing, device } = await start()
    expect(await device.subscribeAll(['house/one/+', 'house/two/x', 'tele/#'])).toEqual([1, 128, 128])
    await eventually(() => listOf(service, thing)).toEqual([
      'subscription_refused: SUBSCRIBE of the client `board` to `tele/#`: not within the option `topics` of the server or the topics of a source.',
      'subscription_refused: SUBSCRIBE of the client `board` to `house/two/x`: the topics that it may subscribe to are house/one/#. ' +
        `\`thingwire things topics ${thing.thingId} --read-topic …\` replaces all its topics.`,
    ])
  })

  it('of a session is in the log', async () => {
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const service = await DoorService.start({ topics, log })
    const client = await service.connectTopics(own, { clientId: 'ha' })
    expect(await client.subscribe('garden/#')).toBe(128)
    expect(lines.filter(line => line.includes('subscription refused'))).toEqual([
      expect.stringContaining(
        'SUBSCRIBE of the client `ha` to `garden/#`: the topics that it may subscribe to are house/one/#.',
      ),
    ])
  })
})

describe('a will on another topic that was not given', () => {
  it('is named in the refusal of the CONNECT', async () => {
    const { service, thing } = await start()
    const will = { topic: 'house/one/LWT', payload: 'gone', qos: 1 } as const
    expect((await service.connectThing(thing, { will })).connack.returnCode).toBe(5)
    await eventually(() => listOf(service, thing)).toEqual([
      "connect_refused: CONNACK 5: the will is on `house/one/LWT`, which is neither the write topic of the client's thing nor another topic on which the client may publish",
    ])
  })
})
