import { isWithin } from '../../core/topics/topic-filter.ts'
import type { ServerClient } from '../client/client.ts'
import {
  called,
  describeThing,
  findThing,
  type ListedThing,
  type Principal,
  readPrincipal,
} from '../client/named-thing.ts'
import { shownGrants } from '../client/topic-flags.ts'
import { durationText } from '../progress.ts'
import { newestRecords, type ReadRecord } from '../reading/read-records.ts'
import { type Finding, fault, note, ok } from './finding.ts'
import { refusedWriteFindings } from './refused-writes.ts'

/** How far the clock of a device may be ahead without a note, milliseconds. */
const tolerance = 300_000

/** Checks when the thing was last seen, and what the server has refused lately. */
export async function checkThing(client: ServerClient, named: string | undefined): Promise<Finding[]> {
  const thing = await findThing(client, named)
  const records = (await newestRecords(client, thing.thingId)).flatMap(({ values }) => values)
  const newest = newestPast(records)
  const principal = await readPrincipal(client)
  const listed = principal.kind === 'thing' ? undefined : await describeThing(client, thing.thingId)
  const relayed = listed?.topics?.length && listed.lastSeen !== null ? Date.parse(listed.lastSeen) : undefined
  const findings = [
    ...valueFindings(records),
    ...(await refusedWriteFindings(client, thing.thingId, newest, relayed)),
  ]
  // If this command uses the thing's own token, `lastSeen` is the time of this command and says nothing about the device.
  if (principal.kind === 'thing') return findings
  if (listed) return [seenFinding(listed, newest), ...topicFindings(principal, listed), ...findings]
  const advice = 'thingwire things list shows all things'
  return [fault('thing', `there is no thing ${thing.thingId}`, advice)]
}

/** Notes on granted topics that the server does not relay. Only the operator can see which topics the server relays. */
function topicFindings(principal: Principal, { thingId, topics = [] }: ListedThing): Finding[] {
  if (principal.kind !== 'admin') return []
  const unserved = topics.filter(({ filter }) => !principal.topics?.some(outer => isWithin(filter, outer)))
  if (unserved.length === 0) return []
  const text = `neither the option topics of the server nor a source names all topics that the thing was granted: ${shownGrants(unserved)}`
  const advice = `name them in the option topics or in a source, or grant the thing others: thingwire things topics ${thingId}`
  return [note('topics', text, advice)]
}

/** Datetime of the newest record that is not in the future, milliseconds since the epoch; undefined if there is none. */
function newestPast(records: readonly ReadRecord[]): number | undefined {
  const times = records.map(({ datetime }) => Date.parse(datetime))
  const past = times.filter(time => time <= Date.now())
  return past.length === 0 ? undefined : Math.max(...past)
}

/** Notes on numbers that are sent as text, and on a record whose datetime is some minutes or hours ahead. */
function valueFindings(records: readonly ReadRecord[]): Finding[] {
  const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text))
  const texts = records.filter(({ value }) => typeof value === 'string' && isNumber(value)).slice(0, 20)
  const ordinary = records.filter(({ key }) => !key.startsWith('$'))
  const ahead = ordinary.filter(({ datetime }) => Date.parse(datetime) > Date.now() + tolerance)
  const keys = texts.map(({ key }) => key).join(', ')
  const why = 'a time without a zone is UTC: send UTC, or the offset, as in 2026-11-21T09:30:00+02:00'
  return [
    ...texts.slice(0, 1).map(({ value }) => {
      const text = `${keys}: numbers sent as text, which charts and averages leave out, such as "${value}"`
      return note('values', text, `send the number without quotes: "value":${value}`)
    }),
    ...ahead.slice(0, 1).map(({ key, datetime }) => {
      const text = `${key} has a record of ${datetime}, which is ahead: it stays the latest until then`
      return note('values', text, `${why}; or is the clock of the device ahead?`)
    }),
  ]
}

function seenFinding(thing: ListedThing, newest: number | undefined): Finding {
  const { lastSeen } = thing
  if (lastSeen !== null) {
    const passed = durationText(Date.now() - Date.parse(lastSeen))
    return ok('last seen', `${called(thing)} ${passed} ago, ${lastSeen}`)
  }
  const advice =
    'check address, port, token and topic in the device, run this command with --url and the address that the device uses, or send a reading with curl in its place'
  if (newest === undefined) return fault('last seen', `${called(thing)} has never sent anything`, advice)
  const text = `${called(thing)} has records from the admin key or a session, but its own token was never used`
  return note('last seen', text, `if a device should send: ${advice}`)
}
