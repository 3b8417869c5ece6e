import { beforeEach, describe, expect, it, vi } from 'vitest'
import { isMessageOn } from '../../helpers/mqtt-client.ts'
import { DoorService, eventually, reading, topicsReceived, writeTopicOf } from '../door-service.ts'

const minute = 60_000
const hour = 60 * minute
const lifetime = 7 * 24 * hour

describe('a persistent session', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
    return () => vi.useRealTimers()
  })

  it('is given up 7 days after it was last connected, not before, and not while it is', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const errors = `things/${thing.thingId}/errors`
    const start = Date.now()
    const connect = (clientId: string) => service.connectThing(thing, { clientId, clean: false })
    const use = async (clientId: string, value: number) => {
      const client = await connect(clientId)
      await client.subscribe(errors)
      await client.publishUntilPubrec(writeTopicOf(thing.thingId), reading(value), { messageId: 7 })
      return client
    }
    /** Client id → hours after the start at which it was last connected. */
    const lastConnected = async () => {
      const documents = await service.things.documents.list('mqtt-sessions/', { limit: 10 })
      const hours = (time: unknown) => Math.round((Number(time) - start) / hour)
      return Object.fromEntries(
        documents.map(([name, content]) => [name.split('%3A').at(-1), hours(content.lastConnected)]),
      )
    }
    const isAt = (hours: number) => vi.setSystemTime(start + hours * hour)
    /** The look at all sessions that is taken every hour, a minute past this one; less what `expect.poll` took of it. */
    const look = async (hours: number, believed = hours) => {
      vi.setSystemTime(start + (hours - 1) * hour + minute)
      await service.things.documents.put(
        { 'believed-clock': { time: start + believed * hour + minute } },
        'essential',
      )
      vi.advanceTimersByTime(hour)
    }
    const days = lifetime / hour

    const inUse = await use('in-use', 0)
    const clients = [await use('left', 1), await use('lost', 2)]
    // Looked at after the others.
    const older = await use('older', 3)
    isAt(1)
    await older.disconnect()
    await eventually(lastConnected).toEqual({ 'in-use': 0, left: 0, lost: 0, older: 1 })
    isAt(2)
    await clients[0]?.disconnect()
    await clients[1]?.destroy()
    await eventually(lastConnected).toEqual({ 'in-use': 0, left: 2, lost: 2, older: 1 })
    await look(days)
    await eventually(lastConnected).toEqual({ 'in-use': days, left: 2, lost: 2, older: 1 })
    await look(1 + days, days)
    await eventually(lastConnected).toEqual({ 'in-use': 1 + days, left: 2, lost: 2 })
    // A clock that is more than a day ahead is not believed.
    await look(26 + days, 1 + days)
    await eventually(lastConnected).toEqual({ 'in-use': 26 + days, left: 2, lost: 2 })
    await look(26 + days)
    await eventually(lastConnected).toEqual({ 'in-use': 26 + days })
    expect(await service.documents('mqtt-in-flight/')).toHaveLength(1)

    await inUse.disconnect()
    const present: unknown[] = []
    for (const [value, clientId] of ['in-use', 'left', 'lost', 'older'].entries()) {
      const client = await connect(clientId)
      present.push(client.connack.sessionPresent)
      // A resend of what it has published before, if its session is known.
      const resent = { messageId: 7, dup: true }
      await client.publishUntilPubrec(writeTopicOf(thing.thingId), reading(value), resent)
      await service.refuse(thing)
      if (clientId === 'in-use') await client.next(isMessageOn(errors))
      await client.ping()
      expect(topicsReceived(client)).toEqual(clientId === 'in-use' ? [errors] : [])
    }
    expect(present).toEqual([true, false, false, false])
    expect(await service.values(thing, 'n')).toEqual([0, 1, 2, 3, 1, 2, 3])
  })
})
