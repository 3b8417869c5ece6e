import { cp } from 'node:fs/promises'
import { expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, openMqtt } from '../../helpers/mqtt-client.ts'
import { mqttOfTest } from '../../helpers/of-test.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { DoorService, eventually } from '../door-service.ts'
import { messagesOf, nextOn, numbers, writeAll } from '../messages.ts'

const session = { clientId: 'board', clean: false }

/** A service on what another one has kept, as if that had been killed. */
async function startAfterCrash({ dataDir, adminKey }: DoorService): Promise<DoorService> {
  const copy = await temporaryDirectory()
  await cp(dataDir, copy, { recursive: true, filter: source => !source.endsWith('LOCK') })
  return await DoorService.start({ dataDir: copy, adminKey })
}

/** A connection that is gone before anything can be sent, and of which the session is left again. */
async function connectInVain(service: DoorService, { thingId, thingToken }: Thing): Promise<void> {
  const client = await openMqtt({ url: service.mqttUrl })
  const connecting = client.connect({ ...session, username: thingToken })
  await Promise.all([client.destroy(), expect(connecting).rejects.toThrow()])
  const name = `mqtt-sessions/${encodeURIComponent(`thing.${thingId}:board`)}`
  await eventually(() => service.things.documents.get(name)).toMatchObject({ isInUse: false })
}

it('a session is sent with DUP what a server that died may have sent it, though connections without a message come first', async () => {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const first = await mqttOfTest({
    url: service.mqttUrl,
    username: thing.thingToken,
    acknowledges: false,
    ...session,
  })
  await first.subscribe(`things/${thing.thingId}/values/n`)
  await writeAll(service, thing, ...numbers(3))
  for (const _ of numbers(3)) await first.next(isOf('publish'))
  const later = await startAfterCrash(service)
  await writeAll(later, thing, 'new')
  for (const _ of numbers(2)) await connectInVain(later, thing)
  const last = await later.connectThing(thing, session)
  expect(last.connack.sessionPresent).toBe(true)
  for (const _ of numbers(4)) await nextOn(last, '/n')
  const live = messagesOf(last).filter(({ retain }) => !retain)
  expect(live.map(({ dup }) => dup)).toEqual([true, true, true, false])
})
