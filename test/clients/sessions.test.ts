import { describe, expect, it } from 'vitest'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { writeBothDoors } from './both-doors.ts'
import type { Subscribing } from './client.ts'
import { type Message, recordValue } from './client.ts'
import { liveClients } from './clients.ts'
import { storedValues } from './stored.ts'

/** Persistent sessions of clients that nobody here wrote. All of them subscribe again when they are back. */

const server = serverOfTests()

function dashboardOf({ thingToken }: Thing, filter: string): Subscribing {
  return { filters: [filter], qos: 1, username: thingToken, clientId: 'dashboard' }
}

async function writeLast(thing: Thing): Promise<void> {
  await write(server(), thing, { values: [{ key: 'n', value: 'last' }] })
}

const valuesOf = (messages: readonly Message[]) => messages.filter(({ retain }) => !retain).map(recordValue)
const isLast = ({ payload }: Message) => payload.includes('"last"')

/** What was retained and is older than what was received before it. @param stored in write order */
function retainedAfterNewer(messages: readonly Message[], stored: readonly unknown[]): readonly Message[] {
  let newest = -1
  return messages.filter(message => {
    const place = stored.indexOf(recordValue(message))
    if (message.retain) return place < newest
    newest = place
    return false
  })
}

describe.each(liveClients)('$name with a persistent session', client => {
  it('gets what it missed and then what is live, in order and once, while writes go on', async () => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingToken}/values/n`
    const dashboard = dashboardOf(thing, topic)
    const before = await client.subscribe(server(), dashboard)
    await writeBothDoors(server(), thing, { from: 0, to: 100 })
    await before.inbox.first(100)
    await before.leave()
    await writeBothDoors(server(), thing, { from: 100, to: 700 })
    const writing = writeBothDoors(server(), thing, { from: 700, to: 900 })
    const { inbox } = await client.subscribe(server(), dashboard)
    await writing
    await writeLast(thing)
    const all = [...before.inbox.messages, ...(await inbox.until(isLast))]
    const stored = await storedValues(server(), thing, 'n')
    expect(stored).toHaveLength(901)
    expect(valuesOf(all)).toEqual(stored)
    expect(new Set(all.map(message => message.topic))).toEqual(new Set([topic]))
    expect(retainedAfterNewer(all, stored)).toEqual([])
  })

  it('that leaves while it is written to goes on without a gap, and has only the end of what it had again', async () => {
    const thing = await createThing(server())
    const dashboard = dashboardOf(thing, `things/${thing.thingToken}/values/n`)
    const leavesAfter = 100
    const before = await client.subscribe(server(), { ...dashboard, leavesAfter })
    const writing = writeBothDoors(server(), thing, { from: 0, to: 400 })
    await before.inbox.first(leavesAfter)
    await before.leave()
    const { inbox } = await client.subscribe(server(), dashboard)
    await writing
    await writeLast(thing)
    const after = await inbox.until(isLast)
    const stored = await storedValues(server(), thing, 'n')
    const seen = valuesOf(before.inbox.messages)
    const seenThen = valuesOf(after)
    expect(stored).toHaveLength(401)
    expect(seen).toEqual(stored.slice(0, seen.length))
    // Its last acknowledgements may be lost with a connection that it closes without having read all.
    const again = seen.length + seenThen.length - stored.length
    expect(again).toBeGreaterThanOrEqual(0)
    expect(seenThen).toEqual(stored.slice(seen.length - again))
  })

  it('that is killed gets what it missed at every QoS, in order and once, when it is back', async () => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingToken}/values/#`
    const dashboard = dashboardOf(thing, topic)
    await (await client.subscribe(server(), dashboard)).kill()
    await writeBothDoors(server(), thing, { from: 0, to: 60 })
    const { inbox } = await client.subscribe(server(), dashboard)
    await writeLast(thing)
    const received = (await inbox.until(isLast)).filter(message => message.topic.endsWith('/values/n'))
    const stored = await storedValues(server(), thing, 'n')
    expect(stored).toHaveLength(61)
    expect(valuesOf(received)).toEqual(stored)
  })

  it('gets the writes as they were written that it missed', async () => {
    const thing = await createThing(server())
    const topic = `v2/things/${thing.thingToken}`
    const dashboard = dashboardOf(thing, topic)
    await (await client.subscribe(server(), dashboard)).leave()
    await write(server(), thing, {
      values: [
        { key: 'n', value: 1 },
        { key: 'm', value: 2 },
      ],
    })
    await write(server(), thing, { values: [{ key: 'n', value: 'not sent' }], broadcast: false })
    await write(server(), thing, { values: [{ key: 'n', value: 'not kept' }], store: false })
    const { inbox } = await client.subscribe(server(), dashboard)
    await writeLast(thing)
    expect(await inbox.until(isLast)).toEqual(
      ['[{"key":"n","value":1},{"key":"m","value":2}]', '[{"key":"n","value":"last"}]'].map(payload => ({
        topic,
        payload,
        qos: 1,
        retain: false,
      })),
    )
  })

  it('that comes back with a clean session gets nothing of what it missed', async () => {
    const thing = await createThing(server())
    const topic = `v2/things/${thing.thingToken}`
    const { clientId, ...clean } = dashboardOf(thing, topic)
    await (await client.subscribe(server(), dashboardOf(thing, topic))).leave()
    await write(server(), thing, { values: [{ key: 'n', value: 'missed' }] })
    const { inbox } = await client.subscribe(server(), clean)
    await writeLast(thing)
    expect(await inbox.until(isLast)).toHaveLength(1)
  })
})
