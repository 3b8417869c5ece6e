import type { Command } from 'commander'
import type { ServerClient } from '../client/client.ts'
import { type ConnectionFlags, connect, noteIfSome, serverCommand } from '../client/connection.ts'
import {
  called,
  findThing,
  isCalled,
  type ListedThing,
  type NamedThing,
  type Principal,
  readPrincipal,
} from '../client/named-thing.ts'
import { CommandError, failure, usageError } from '../exit.ts'
import { counted, grouped, printJson, printLine, table } from '../output.ts'
import { Progress } from '../progress.ts'
import { knownKeys } from '../reading/read-records.ts'
import {
  lookInRange,
  type RecordsInRange,
  type Resource,
  removeInRange,
  resourcesOf,
} from '../removing/resource.ts'
import { type TimeRange, timeRange } from '../time.ts'

interface Flags extends ConnectionFlags {
  readonly allThings?: true
  readonly allKeys?: true
  readonly from?: string
  readonly to?: string
  readonly dryRun?: true
}

interface Wanted {
  readonly things: AsyncIterable<NamedThing> | Iterable<NamedThing>
  /** Keys of the resources; undefined for all resources. */
  readonly keys: readonly string[] | undefined
}

/** The records of a resource that were removed or, in a dry run, would be removed. */
type Removed = Resource & Pick<RecordsInRange, 'records'> & Partial<RecordsInRange>

export function addRemove(program: Command): void {
  serverCommand(program, 'remove', 'Remove records of a thing, or of all things.', {
    examples: [
      [
        'remove --all-things --all-keys --from 2026-11-22 --dry-run',
        'what a clock that was ahead has left behind today',
      ],
      ['remove abcdefgh234567ab depth speed --from 2026-11-01 --to 2026-11-02', 'one day of two resources'],
    ],
    notes: [
      'Nobody can undo a removal: try it with --dry-run first. doctor names the range of records that lie in the future.',
      "The server accepts the admin key and the operator's write sessions, and the token of a thing if its option allowThingDelete is set.",
      'Without --from and --to all records of a resource are removed; for $geo, $settings and $meta also the state. A removal that was interrupted can be run again. The dry run does not count what was written to a path of $settings that is no longer in the document.',
    ],
  })
    .argument('[thing]', "id of the thing; left out with --all-things, or with a thing's own token")
    .argument('[keys...]', 'keys of the resources')
    .option('--all-things', 'of all things that the credential may read; needs --from or --to')
    .option('--all-keys', 'of all resources')
    .option(
      '--from <time>',
      'start of the range, such as 2026-11-21 or 2026-11-21T09:30:00Z; in UTC if it names no zone',
    )
    .option('--to <time>', 'end of the range, exclusive: for one day, give the next day')
    .option('--dry-run', "show what would be removed, and remove nothing; also accepts a thing's name")
    .action(remove)
}

async function remove(first: string | undefined, others: readonly string[], flags: Flags): Promise<void> {
  const range = timeRange(flags.from, flags.to)
  const operands = first === undefined ? [] : [first, ...others]
  if (flags.allThings && flags.from === undefined && flags.to === undefined) {
    throw usageError('--all-things needs --from or --to: without a range it would remove every record')
  }
  const client = await connect(flags, 'any')
  if (flags.allThings) await noteIfSome(client)
  const wanted = flags.allThings
    ? { things: client.list<ListedThing, 'things'>('/v2/things', 'things'), keys: keysOf(operands, flags) }
    : await ofOneThing(client, operands, flags)
  const resources = await find(client, wanted)
  const removed = flags.dryRun
    ? await look(client, resources, range)
    : await removeEach(client, resources, range)
  await show(removed, flags)
}

/** With a thing's own token, the first operand is a key, unless it is the id or name of the thing. */
async function ofOneThing(client: ServerClient, operands: readonly string[], flags: Flags): Promise<Wanted> {
  const principal = await readPrincipal(client)
  const [named, ...keys] = operands
  if (principal.kind === 'thing' && (named === undefined || !isCalled(principal, named))) {
    return { things: [principal], keys: keysOf(operands, flags) }
  }
  const wanted = keysOf(keys, flags)
  const thing = await findThing(client, named)
  assertMeant(thing, named, principal, flags)
  return { things: [thing], keys: wanted }
}

/** Refuses a name where an id is required: another thing may have the name by mistake, and a removal cannot be undone. */
function assertMeant(
  { thingId }: NamedThing,
  named: string | undefined,
  { kind }: Principal,
  { dryRun }: Flags,
): void {
  if (dryRun || kind === 'thing' || named === undefined || named === thingId) return
  throw failure(`${named} is a name: remove records of the thing by its id, ${thingId}`)
}

/** @throws CommandError usage */
function keysOf(keys: readonly string[], { allKeys }: Flags): readonly string[] | undefined {
  if ((allKeys === true) === keys.length > 0)
    throw usageError('give the keys of the resources, or --all-keys')
  return allKeys ? undefined : [...new Set(keys)]
}

/** Finds all resources before any records are removed, so that a misspelled key removes nothing. */
async function find(client: ServerClient, { things, keys }: Wanted): Promise<readonly Resource[]> {
  const resources: Resource[] = []
  const looked: NamedThing[] = []
  for await (const thing of things) {
    resources.push(...(await resourcesOf(client, thing, keys)))
    if (looked.length < 2) looked.push(thing)
  }
  const unknown = keys?.filter(key => resources.every(resource => resource.key !== key)) ?? []
  if (unknown.length === 0) return resources
  const [only, another] = looked
  const { has } = only && !another ? await knownKeys(client, only.thingId, []) : { has: undefined }
  throw failure(`there is no resource ${unknown.join(', ')}: nothing is removed`, has ? [has] : [])
}

async function look(
  client: ServerClient,
  resources: readonly Resource[],
  range: TimeRange,
): Promise<readonly Removed[]> {
  const progress = new Progress()
  const found: Removed[] = []
  for (const [index, resource] of resources.entries()) {
    const inRange = await lookInRange(client, resource, range)
    if (inRange) found.push({ ...resource, ...inRange })
    progress.show(() => `looked at ${grouped(index + 1)} of ${counted(resources.length, 'resource')}`)
  }
  progress.clear()
  return found
}

async function removeEach(
  client: ServerClient,
  resources: readonly Resource[],
  range: TimeRange,
): Promise<readonly Removed[]> {
  const progress = new Progress()
  const removed: Removed[] = []
  try {
    for (const [index, resource] of resources.entries()) {
      const records = await removeInRange(client, resource, range)
      if (records > 0) removed.push({ ...resource, records })
      const done = () => `${grouped(index + 1)} of ${counted(resources.length, 'resource')}`
      progress.show(() => `${done()}, ${counted(total(removed), 'record')} removed`)
    }
  } catch (error) {
    progress.clear()
    throw stopped(error, total(removed))
  }
  progress.clear()
  return removed
}

/** Adds to an error how many records were removed before it occurred. */
function stopped(error: unknown, records: number): unknown {
  if (!(error instanceof CommandError) || records === 0) return error
  const before = `${counted(records, 'record')} removed before that: run the command again to continue`
  return new CommandError(error.status, error.message, [...error.details, before])
}

async function show(removed: readonly Removed[], { dryRun, json }: Flags): Promise<void> {
  const records = total(removed)
  if (json) {
    const resources = removed.map(({ thing: { thingId }, ...rest }) => ({ thingId, ...rest }))
    return await printJson({ isDryRun: dryRun === true, records, resources })
  }
  const rows = removed.map(({ thing, key, records, first = '', last = '' }) => {
    const cells = [called(thing), key, grouped(records)]
    return dryRun ? [...cells, first, last] : cells
  })
  const head = ['thing', 'key', 'records', ...(dryRun ? ['first', 'last'] : [])]
  if (rows.length > 0) await printLine(table(head, rows))
  const things = new Set(removed.map(({ thing }) => thing.thingId)).size
  const where = `in ${counted(removed.length, 'resource')} of ${counted(things, 'thing')}`
  await printLine(`${counted(records, 'record')} ${where} ${dryRun ? 'would be removed' : 'removed'}`)
}

function total(removed: readonly Removed[]): number {
  return removed.reduce((sum, { records }) => sum + records, 0)
}
