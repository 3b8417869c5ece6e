import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { type Thing, write } from '../../helpers/http-client.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { DoorService } from '../../mqtt/door-service.ts'
import { createGate, observeStore } from '../../mqtt/observed-store.ts'
import { postText } from '../host.ts'

const short = { values: [{ key: 'n', value: 1 }] }
/** More than a group of commits takes. */
const long = { values: Array.from({ length: 6 }, (_, n) => ({ key: `n${n}`, value: 'x'.repeat(50_000) })) }

const pathOf = ({ thingToken }: Thing) => `/v2/things/${thingToken}`

it('a write passes long ones of another connection, and none of its own (contract 4.3)', async () => {
  const gate = createGate()
  const location = join(await temporaryDirectory(), 'store')
  const store = observeStore(createLevelStore({ location }), gate)
  const service = await DoorService.start({ store })
  onTestFinished(() => gate.open())
  const things = await Promise.all([1, 2, 3, 4].map(() => service.createThing()))
  const [long1, long2, own, other] = things as [Thing, Thing, Thing, Thing]
  // The first use of a token is kept, and that would wait for the gate.
  for (const thing of things) await fetch(`${service.url}${pathOf(thing)}/errors`)
  const committed: string[] = []
  service.things.records.onCommit(({ thingId }) => void committed.push(thingId))

  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(postText(pathOf(long1), long) + postText(pathOf(long2), long) + postText(pathOf(own), short))
  await store.called(3)
  const ownIsCommitted = service.committed(own)
  const answer = write(service, other, short)
  await store.called(4)
  gate.open()
  expect((await answer).status).toBe(201)
  await ownIsCommitted
  expect(committed).toEqual([long1, other, long2, own].map(({ thingId }) => thingId))
})
