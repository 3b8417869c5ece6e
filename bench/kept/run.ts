import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { ask, type Thing } from '../../test/helpers/http-client.ts'
import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { connectAccepted, isMessageOn, type MqttClient } from '../../test/helpers/mqtt-client.ts'
import { preload } from '../../test/helpers/preload.ts'
import { noRateLimits, type ServerProcess, startServer } from '../../test/helpers/server-process.ts'
import { makeBenchDirectory } from '../bench-directory.ts'
import { endWithUs } from '../peers/program.ts'
import type { TurnTimes } from '../turns/turns-preload.ts'

/**
 * `npm run bench:kept [-- --messages 3000]`: messages on other topics for many sessions that are away, in a heap of 512 MB. Reports
 * the memory and the bytes written for one message of 1 MB, and the longest turn of the event loop for many small ones. Exits with 1
 * if a bound is missed. Linux only.
 */

const { values } = parseArgs({ options: { messages: { type: 'string', default: '3000' } } })
const messages = Number(values.messages)
const grants = [
  { filter: 'tele/#', access: 'read' },
  { filter: 'tele/#', access: 'write' },
]
const payload = Buffer.alloc(1_000_000, 'x')
const watched = preload(new URL('../turns/turns-preload.ts', import.meta.url))
/** Of memory in MB; of bytes, a multiple of those for one session; of a turn in milliseconds. */
const bounds = { memory: 64, bytes: 1.2, turn: 100 }

const judged = new JudgedLines()
const forOne = await oneMessage(1, 1)
for (const [things, sessions] of [
  [1, 800],
  [3, 2_000],
] as const) {
  const { memory, bytes, kept } = await oneMessage(things, sessions)
  const ratio = bytes / forOne.bytes
  judged.line(
    memory <= bounds.memory && ratio <= bounds.bytes && kept === sessions,
    `1 MB for ${sessions} sessions of ${things} things: acked; ${kept} find it; ${memory.toFixed(0)} MB more at the peak (bound ` +
      `${bounds.memory}); ${ratio.toFixed(2)} of the bytes for one session (bound ${bounds.bytes})`,
  )
}
await manyMessages(500)
process.exit(judged.broken === 0 ? 0 : 1)

interface Stage {
  readonly server: ServerProcess
  readonly publisher: MqttClient
  readonly sessions: readonly { readonly username: string; readonly clientId: string }[]
  readonly dataDir: string
}

async function oneMessage(things: number, count: number) {
  const { server, publisher, sessions } = await stageOf(things, count)
  const pid = server.process.pid ?? 0
  // What V8 compiles and LevelDB opens first is no message's.
  await publisher.publish('tele/other', 'x')
  const before = await peakOf(pid, true)
  const written = await writtenBy(pid)
  await publisher.publish('tele/a', payload)
  const bytes = (await writtenBy(pid)) - written
  const memory = ((await peakOf(pid, false)) - before) / 1024
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

async function manyMessages(count: number): Promise<void> {
  const { server, publisher, dataDir } = await stageOf(1, count)
  const watch = connect(join(dataDir, 'turns.sock'))
  const begin = performance.now()
  const sending: Promise<unknown>[] = []
  for (let n = 0; n < messages; n++) sending.push(publisher.publish('tele/a', Buffer.alloc(100, 'x')))
  await Promise.all(sending)
  const seconds = (performance.now() - begin) / 1_000
  watch.end()
  const { processor } = JSON.parse(await text(watch)) as TurnTimes
  const longest = Math.max(...processor)
  judged.line(
    longest <= bounds.turn,
    `${messages} messages of 100 B for ${count} sessions: all acked in ${seconds.toFixed(1)} s; the longest turn ` +
      `${longest.toFixed(0)} ms (bound ${bounds.turn})`,
  )
  await server.stop()
}

async function stageOf(things: number, count: number): Promise<Stage> {
  const dataDir = await makeBenchDirectory()
  const server = await startServer({
    dataDir,
    environment: {
      ...noRateLimits,
      BENCH_TURNS: join(dataDir, 'turns.sock'),
      NODE_OPTIONS: `${watched.NODE_OPTIONS} --max-old-space-size=512`,
      THINGWIRE_TOPICS: 'tele/#',
    },
  })
  endWithUs(server.process)
  const sessions: Stage['sessions'][number][] = []
  for (let thing = 0; thing < things; thing++) {
    const { thingToken: username } = await thingOn(server)
    const own = Math.floor(count / things) + (thing < count % things ? 1 : 0)
    for (let n = 0; n < own; n++) {
      const clientId = `away-${Math.random().toString(36).slice(2, 12)}`
      const client = await connectAccepted({ url: server.mqttUrl, username, clientId, clean: false })
      await client.subscribe('tele/#', 1)
      await client.disconnect()
      sessions.push({ username, clientId })
    }
  }
  const { thingToken } = await thingOn(server)
  const own = { url: server.mqttUrl, username: thingToken, clientId: 'publisher' }
  const publisher = await connectAccepted({ ...own, deadline: 600_000 })
  return { server, publisher, sessions, dataDir }
}

function thingOn(server: ServerProcess): Promise<Thing> {
  return ask<Thing>(server, 'POST', '/v2/admin/things', { topics: grants })
}

/** Bytes that a process has written, to files and sockets. */
async function writtenBy(pid: number): Promise<number> {
  return Number(/^wchar: (\d+)$/m.exec(await readFile(`/proc/${pid}/io`, 'latin1'))?.[1])
}

/** Peak of the resident memory, KB. @param anew whether the kernel forgets the peak before */
async function peakOf(pid: number, anew: boolean): Promise<number> {
  if (anew) await writeFile(`/proc/${pid}/clear_refs`, '5')
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])
}
