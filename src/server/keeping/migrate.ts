import type { Document } from '../../core/ports.ts'
import { forwardPrefix } from '../../forward/progress.ts'
import { epochsName } from '../../live/streams/event-ids.ts'
import { streamPrefix } from '../../live/streams/own-stream-log.ts'
import { type AppliedMark, isAppliedMark, movedMark } from '../../magic/applied-marks.ts'
import { sessionPrefix } from '../../mqtt/relay/documents.ts'
import { type MqttSessionDocument, movedSession } from '../../mqtt/sessions/session-documents.ts'
import { migrate, type Progress } from '../../store/migrate/migrate.ts'
import type { ServerOptions } from '../options/options.ts'
import { storeLocation } from './choose-store.ts'
import { markMoved } from './marks.ts'

/** Milliseconds between progress lines. */
const lineEvery = 1_000

/**
 * `thingwire migrate`: moves the embedded store of a data directory into Redis. Prints progress to stderr and a summary to
 * stdout.
 *
 * @throws Error with one line for the operator
 */
export async function migrateDataDir(options: ServerOptions): Promise<void> {
  const { dataDir, redisUrl, redisAllowUnsafe, redisReplicas, redisReplicasFsync } = options
  if (redisUrl === undefined) {
    throw new Error(
      'migrate moves a store into Redis: set THINGWIRE_REDIS_URL, or redisUrl in a --config file',
    )
  }
  const location = storeLocation(dataDir)
  const moved = await migrate({
    location,
    url: redisUrl,
    allowUnsafe: redisAllowUnsafe,
    replicas: redisReplicas,
    replicasFsync: redisReplicasFsync,
    documentOf: movedDocument,
    onProgress: progressLines(line => console.error(line)),
    onWarning: text => console.error(`thingwire: ${text}`),
  })
  await markMoved(dataDir)
  if (!moved) return console.log(`An earlier run has moved all of ${location}; nothing was changed`)
  const { records, resources, states, documents, commits, writeIds, refusedWrites, digest } = moved
  console.log(`${location} and Redis now hold the same data:
  ${grouped(records)} records in ${grouped(resources)} resources, SHA-256 ${digest}
  ${grouped(states)} states, ${grouped(documents)} documents, ${grouped(commits)} logged commits
  ${grouped(writeIds)} write ids, ${grouped(refusedWrites)} refused writes
The embedded store is unchanged. No server will start on it, because Redis would miss its new writes.
The store does not contain the admin key: set THINGWIRE_ADMIN_KEY on every node, to the old key (${dataDir}/admin-key) or a new one.`)
}

/** Prints a line each second, and a line at the beginning and the end of each step. */
function progressLines(say: (line: string) => void): (progress: Progress) => void {
  let begin = { step: '', time: 0, records: 0 }
  let newest = 0
  return ({ step, records, of }) => {
    const now = Date.now()
    if (step !== begin.step) begin = { step, time: now, records }
    else if (now - newest < lineEvery && records < of) return
    newest = now
    const share = of === 0 ? 100 : Math.floor((100 * records) / of)
    const rate = Math.round(((records - begin.records) * 1_000) / Math.max(now - begin.time, 1))
    say(`${step} ${grouped(records)} of ${grouped(of)} records (${share} %), ${grouped(rate)} a second`)
  }
}

function grouped(count: number): string {
  return count.toLocaleString('en')
}

/**
 * Translates a document of the embedded store, and the write numbers in it, for Redis. Event ids are not moved: a stream that is
 * resumed after the move gets `reset`. The position of forwarding is not moved either: forwarding needs the embedded store.
 *
 * @param numberOf returns the write number in Redis for a write number of the embedded store
 * @returns undefined if the document is not moved
 */
export function movedDocument(
  name: string,
  document: Document,
  numberOf: (writeNumber: number) => number,
): Document | undefined {
  if (name === epochsName || name.startsWith(streamPrefix) || name.startsWith(forwardPrefix)) return undefined
  if (isAppliedMark(name)) return movedMark(document as AppliedMark, numberOf)
  if (name.startsWith(sessionPrefix)) return movedSession(document as MqttSessionDocument, numberOf)
  return document
}
