import { futureTolerance } from '../../core/record/datetime.ts'
import type { ServerClient } from '../client/client.ts'
import {
  findThing,
  type ListedThing,
  type NamedThing,
  type Principal,
  readPrincipal,
} from '../client/named-thing.ts'
import { counted } from '../output.ts'
import { newestRecords } from '../reading/read-records.ts'
import { lookInRange } from '../removing/resource.ts'
import { type Finding, fault, ok } from './finding.ts'

const check = 'future records'

/**
 * Looks for records whose datetime is so far ahead that the server would now refuse it. They were written while the server's clock
 * was ahead, and stay the latest of their resources. Checks the named thing or the thing of the token, else all things.
 */
export async function checkFutureRecords(
  client: ServerClient,
  named: string | undefined,
): Promise<readonly Finding[]> {
  const { principal, serverTime } = await askServer(client)
  const one = named !== undefined || principal.kind === 'thing'
  const things = one
    ? [await findThing(client, named)]
    : client.list<ListedThing, 'things'>('/v2/things', 'things')
  // Uses the later of the server's clock and this machine's: a clock that is behind makes correct datetimes seem too far ahead.
  const from = wholeSecond(Math.max(serverTime, Date.now()) + futureTolerance)
  const found = { things: 0, resources: 0, records: 0, last: '', thingId: '' }
  for await (const { thingId } of things) {
    const resources = await resourcesAfter(client, { thingId, name: '' }, from)
    if (resources.length === 0) continue
    found.things++
    found.thingId = thingId
    found.resources += resources.length
    for (const { records, last } of resources) {
      found.records += records
      if (last > found.last) found.last = last
    }
  }
  if (found.records === 0) return [ok(check, 'no record is more than 24 h ahead')]
  const where = `in ${counted(found.resources, 'resource')} of ${counted(found.things, 'thing')}`
  const text = `${counted(found.records, 'record')} ${where} after ${from}, the latest at ${found.last}`
  return [fault(check, text, advice(principal, found, { from, serverTime }))]
}

/** Takes the time from the Date header: the receipt time in `utils/date` stays ahead after a clock that was ahead is corrected. */
async function askServer(client: ServerClient): Promise<{ principal: Principal; serverTime: number }> {
  const principal = await readPrincipal(client)
  const { headers } = await client.open('/v2/principal', { headers: { accept: 'application/json' } })
  const serverTime = Date.parse(headers.get('date') ?? '')
  return { principal, serverTime: Number.isNaN(serverTime) ? Date.now() : serverTime }
}

function wholeSecond(time: number): string {
  return new Date(Math.ceil(time / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

/** The resources with records at or after `from`. States of magic resources do not count: a state may be newer than all records. */
async function resourcesAfter(client: ServerClient, thing: NamedThing, from: string) {
  const suspicious: string[] = []
  for (const { key, values } of await newestRecords(client, thing.thingId)) {
    if (values.some(({ datetime }) => Date.parse(datetime) >= Date.parse(from))) suspicious.push(key)
  }
  const looked = suspicious.map(async key => await lookInRange(client, { thing, key }, { startDate: from }))
  return (await Promise.all(looked)).filter(each => each !== undefined)
}

/** Advises a dry run, since the records may be right and the server's present clock wrong. */
function advice(
  { kind }: Principal,
  { things, thingId }: { readonly things: number; readonly thingId: string },
  { from, serverTime }: { readonly from: string; readonly serverTime: number },
): string {
  const which = things === 1 ? thingId : '--all-things'
  const command = `thingwire remove ${which} --all-keys --from ${from}`
  const who = kind === 'thing' ? 'the operator can see' : 'see'
  return `is the clock of the server right (${wholeSecond(serverTime)})? Then ${who} what to remove with: ${command} --dry-run`
}
