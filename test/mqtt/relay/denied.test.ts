import { describe, expect, it } from 'vitest'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import type { Thing } from '../../helpers/http-client.ts'
import { DoorService } from '../door-service.ts'

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
      'not_a_write_topic: this client may not publish on `house/one/x`: its topics to publish on are house/two/#. ' +
        `\`thingwire things topics ${thing.thingId} --write-topic …\` gives it others, in the place of all that it has.`,
    ])
  })

  it('is listed with none where the thing has none', async () => {
    const { service, thing, device } = await start([])
    await device.publish('garden/x', 'ON')
    expect(await listOf(service, thing)).toEqual([
      expect.stringContaining('may not publish on `garden/x`: its topics to publish on are none.'),
    ])
  })

  it.each(['tele/x', '$SYS/x'])('is listed as outside of the option topics: %s', async topic => {
    const { service, thing, device } = await start()
    await device.publish(topic, 'ON')
    expect(await listOf(service, thing)).toEqual([
      `not_a_write_topic: this client may not publish on \`${topic}\`: it is not within the option \`topics\` of the server.`,
    ])
  })

  it('is listed without a token in it', async () => {
    const { service, thing, device } = await start()
    await device.publish(`house/${thing.thingToken}/x`, 'ON')
    expect(await listOf(service, thing)).toEqual([expect.stringContaining('`house/[redacted]/x`')])
  })
})
