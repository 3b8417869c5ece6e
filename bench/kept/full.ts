import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { bytesOfStore } from '../../src/store/level/database/directory-size.ts'
import { Changes } from '../../test/helpers/changes.ts'
import { createThing, type Thing } from '../../test/helpers/http-client.ts'
import type { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { connectAccepted, type Message } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { settled } from '../compare/loaded.ts'
import { ofThings, runWrites, startWriting, steadily, type Writing } from '../load/writes.ts'
import { idOf } from '../peers/peer.ts'
import { forgetPeak, peakMemory } from '../peers/processes.ts'
import { type Away, leaveSessions, openStage, type Stage, thingOn } from './stage.ts'

const MiB = 1024 * 1024
/** Of a principal (contract §7.10). */
const most = { entries: 2_000_000, bytes: 256 * MiB }
/** Bytes of the store: three times what a principal may keep. */
const mostOnDisk = 3 * most.bytes
/** Of the bound, what is kept at the end, as far as some sessions say of all. */
const keptShare = { least: 0.85, most: 1.1 }
const sampled = 10
/** Seconds. */
const deadline = 3_600
const restOfDisk = 500
/** Milliseconds in which what is too much is counted and dropped. */
const longestTrim = 600_000
/** Milliseconds in which a neighbour finds all its messages. */
const longestSearch = 60_000

/** A way to keep all that one principal may. */
interface Way {
  readonly name: string
  readonly sessions: number
  readonly filterOf: (place: number) => string
  /** Each is published to by a connection. */
  readonly topics: number
  readonly payload: string
  /** On their way, per connection. */
  readonly window: number
  /** Sessions that want one message. */
  readonly wanted: number
  /** That reach the bound. */
  readonly messages: number
}

// Nothing of the neighbours is for it.
const topicOf = (place: number) => `tele/full/s${place}`
const large = randomBytes(32 * 1024).toString('hex')
const small = '{"on":true}'

/** By the word that chooses it. */
const ways: Readonly<Record<string, Way>> = {
  bytes: {
    name: 'messages of 64 KiB, each for one of 40 sessions',
    ...{ sessions: 40, filterOf: topicOf, topics: 40, payload: large, window: 2, wanted: 1 },
    messages: most.bytes / large.length,
  },
  shared: {
    name: 'small messages, each for 1,000 sessions',
    ...{ sessions: 1_000, filterOf: () => 'tele/full/#', topics: 4, payload: small, window: 25 },
    ...{ wanted: 1_000, messages: most.entries / 1_000 },
  },
  single: {
    name: 'small messages, each for one of 250 sessions',
    ...{ sessions: 250, filterOf: topicOf, topics: 250, payload: small, window: 20, wanted: 1 },
    messages: most.entries,
  },
}

/**
 * What others get while one principal keeps all that it may and goes on, the bytes on disk, and what is kept.
 *
 * @param only begins the words of the ways that are tried, each on a server of its own
 * @param beyond times the bound: what is published
 */
export async function judgeFull(judged: JudgedLines, only: string, beyond: number): Promise<void> {
  for (const [word, way] of Object.entries(ways)) if (word.startsWith(only)) await fill(judged, way, beyond)
}

async function fill(judged: JudgedLines, way: Way, beyond: number): Promise<void> {
  const stage = await openStage()
  const { server } = stage
  const processId = idOf(server)
  const greedy = await thingOn(server)
  const filters = Array.from({ length: way.sessions }, (_, place) => way.filterOf(place))
  const away = await leaveSessions(server, greedy, filters)
  const [endReadings, endMessages] = [await writeReadings(server), await keepMessages(server)]
  forgetPeak(processId)
  const endWatching = watchDisk(stage)
  const begin = performance.now()
  const published = await publish(stage, greedy, way, beyond * way.messages).catch(String)
  const seconds = (performance.now() - begin) / 1_000
  const [readings, messages] = [await endReadings(), await endMessages()]
  judged.line(
    typeof published === 'number' && readings.isUntouched && messages.isUntouched,
    `${way.name}: ${published} acked in ${seconds.toFixed(0)} s of ${beyond} × the bound; meanwhile of others, ` +
      `readings ${readings.text}; kept messages ${messages.text}${await reasonsOf(stage)}`,
  )
  const disk = await endWatching()
  judged.line(
    disk <= mostOnDisk,
    `  ${(disk / MiB).toFixed(0)} MiB on disk at the peak (bound ${mostOnDisk / MiB}), ` +
      `${(peakMemory(processId) / MiB).toFixed(0)} MiB in memory`,
  )
  await settled({ processes: { server: processId } }, longestTrim)
  const least = keptShare.least * Math.min(1, beyond)
  const kept = await keptShareOf(stage, greedy, away, way)
  judged.line(
    kept >= least && kept <= keptShare.most,
    `  ${kept.toFixed(2)} of the bound is kept (${least.toFixed(2)} to ${keptShare.most})`,
  )
  await server.stop()
}

const neighbourTopic = 'tele/neighbour'

/** What a neighbour got while another principal kept all that it may. */
interface Neighbourhood {
  readonly acked: number
  /** Its connection stands, and every write is acked. */
  readonly isUntouched: boolean
  readonly text: string
}

/** A thing that writes 50 readings a second, until the call of what this returns. */
async function writeReadings(server: ServerProcess): Promise<() => Promise<Neighbourhood>> {
  const { thingToken } = await createThing(server)
  const writing = await startWriting(steadily(server.mqttUrl, [thingToken], 50))
  return () => neighbourhoodOf(writing)
}

/** A thing that publishes ten messages a second for a session of its own that is away, and then looks for them. */
async function keepMessages(server: ServerProcess): Promise<() => Promise<Neighbourhood>> {
  const thing = await thingOn(server)
  const [away] = await leaveSessions(server, thing, [neighbourTopic])
  const message = { username: thing.thingToken, topics: [neighbourTopic], payload: 'on' }
  const writing = await startWriting({ ...steadily(server.mqttUrl, [''], 10), ...message })
  return async () => {
    const { acked, isUntouched, text } = await neighbourhoodOf(writing)
    let found = 0
    const changes = new Changes()
    const onMessage = ({ dup }: Message) => {
      if (!dup) found++
      changes.tell()
    }
    const client = await connectAccepted({ url: server.mqttUrl, ...away, clean: false, onMessage })
    await changes.until(() => found === acked, longestSearch)
    await client.disconnect()
    return { acked, isUntouched: isUntouched && found === acked, text: `${text}, ${found} found` }
  }
}

async function neighbourhoodOf(writing: Writing): Promise<Neighbourhood> {
  try {
    const { total, unacked, latency } = await writing.stop()
    const text = `${total} acked, ${unacked} not, an ack ${latency?.max.toFixed(0)} ms at most`
    return { acked: total, isUntouched: total > 0 && unacked === 0, text }
  } catch (error) {
    return { acked: 0, isUntouched: false, text: String(error) }
  }
}

/** @returns messages that were acked */
async function publish(
  { server }: Stage,
  { thingToken: username }: Thing,
  way: Way,
  messages: number,
): Promise<number> {
  const { topics, payload, window } = way
  const writes = {
    ...ofThings(server.mqttUrl, []),
    ...{ clientIdPrefix: 'greedy-', username, connections: topics, payload, window },
    topics: Array.from({ length: topics }, (_, place) => topicOf(place)),
  }
  const phases = { warmUp: 0, measured: deadline, acks: Math.ceil(messages) }
  const { total } = await runWrites(writes, phases)
  return total
}

/** Of the bound that the way reaches; some sessions stand for all, and end what they find. */
async function keptShareOf(
  { server }: Stage,
  { thingToken: username }: Thing,
  away: readonly Away[],
  { messages, wanted, sessions }: Way,
): Promise<number> {
  const publisher = await connectAccepted({ url: server.mqttUrl, username, clientId: 'ends' })
  const step = Math.floor(sessions / sampled)
  let found = 0
  for (let place = 0; place < sampled * step; place += step) {
    let isOver = false
    const changes = new Changes()
    const onMessage = ({ payload }: Message) => {
      if (String(payload) === 'end') isOver = true
      else found++
      changes.tell()
    }
    const client = await connectAccepted({ url: server.mqttUrl, ...away[place], clean: false, onMessage })
    await publisher.publish(topicOf(place), 'end')
    if (!(await changes.until(() => isOver, deadline * 1_000))) throw new Error('a session does not end')
    await client.takeLeave()
  }
  await publisher.disconnect()
  return (found * sessions) / sampled / (messages * wanted)
}

/** @returns ends it, and gives the greatest size of the store that was seen, bytes */
function watchDisk({ dataDir }: Stage): () => Promise<number> {
  let peak = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      peak = Math.max(peak, await bytesOfStore(storeLocation(dataDir)))
      await delay(restOfDisk)
    }
  })()
  return async () => {
    isOver = true
    await watching
    return peak
  }
}

/** Why writes were refused and connections closed, as `/metrics` has it. */
async function reasonsOf({ server }: Stage): Promise<string> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  const counted = /^thingwire_(?:write_refusals|mqtt_broken_off)_total\{.*\} [1-9]\d*$/gm
  return (metrics.match(counted) ?? []).map(line => `; ${line}`).join('')
}
