import type { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { connectAccepted, isMessageOn } from '../../test/helpers/mqtt-client.ts'
import { idOf } from '../peers/peer.ts'
import { bytesWritten, forgetPeak, peakMemory } from '../peers/processes.ts'
import { type Away, leaveSessions, openStage, publisherOn, thingOn } from './stage.ts'

const MiB = 1024 * 1024
const payload = Buffer.alloc(1_000_000, 'x')
/** Of memory in MiB; of bytes, a multiple of those for one session; of a turn in milliseconds. */
const bounds = { memory: 64, bytes: 1.2, turn: 100 }

/** Memory and written bytes of one message of 1 MB for many sessions, and the longest turn for many small messages. */
export async function judgeSessions(judged: JudgedLines, messages: number): Promise<void> {
  const forOne = await oneMessage(1, 1)
  for (const [things, sessions] of [
    [1, 800],
    [3, 2_000],
  ] as const) {
    const { memory, bytes, kept } = await oneMessage(things, sessions)
    const ratio = bytes / forOne.bytes
    judged.line(
      memory <= bounds.memory && ratio <= bounds.bytes && kept === sessions,
      `1 MB for ${sessions} sessions of ${things} things: acked; ${kept} find it; ${memory.toFixed(0)} MiB more at the peak (bound ` +
        `${bounds.memory}); ${ratio.toFixed(2)} of the bytes for one session (bound ${bounds.bytes})`,
    )
  }
  const { seconds, longest } = await manyMessages(500, messages)
  judged.line(
    longest <= bounds.turn,
    `${messages} messages of 100 B for 500 sessions: all acked in ${seconds.toFixed(1)} s; the longest turn ` +
      `${longest.toFixed(0)} ms (bound ${bounds.turn})`,
  )
}

async function oneMessage(things: number, count: number) {
  const { server, publisher, sessions } = await stageOf(things, count)
  const processId = idOf(server)
  // What V8 compiles and LevelDB opens first is no message's.
  await publisher.publish('tele/other', 'x')
  forgetPeak(processId)
  const [before, written] = [peakMemory(processId), bytesWritten(processId, 'wchar')]
  await publisher.publish('tele/a', payload)
  const bytes = bytesWritten(processId, 'wchar') - written
  const memory = (peakMemory(processId) - before) / MiB
  let kept = 0
  for (const session of sessions) {
    const client = await connectAccepted({ url: server.mqttUrl, ...session, clean: false })
    await client.next(isMessageOn('tele/a'))
    await client.disconnect()
    kept++
  }
  await server.stop()
  return { memory, bytes, kept }
}

async function manyMessages(count: number, messages: number): Promise<{ seconds: number; longest: number }> {
  const { server, publisher, turns } = await stageOf(1, count)
  const endWatching = turns.watch()
  const begin = performance.now()
  const small = Buffer.alloc(100, 'x')
  await Promise.all(Array.from({ length: messages }, () => publisher.publish('tele/a', small)))
  const seconds = (performance.now() - begin) / 1_000
  const { processor } = await endWatching()
  await server.stop()
  return { seconds, longest: Math.max(...processor) }
}

async function stageOf(things: number, count: number) {
  const stage = await openStage()
  const sessions: Away[] = []
  for (let place = 0; place < things; place++) {
    const own = Math.floor(count / things) + (place < count % things ? 1 : 0)
    const filters = Array.from({ length: own }, () => 'tele/#')
    sessions.push(...(await leaveSessions(stage.server, await thingOn(stage.server), filters)))
  }
  return { ...stage, sessions, publisher: await publisherOn(stage.server) }
}
