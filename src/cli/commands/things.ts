import type { Command } from 'commander'
import { printable } from '../../core/json/printable.ts'
import type { ServerClient } from '../client/client.ts'
import { type ConnectionFlags, connect, noteIfSome, serverCommand } from '../client/connection.ts'
import {
  describeThing,
  findNamed,
  type ListedThing,
  readPrincipal,
  thingCalled,
} from '../client/named-thing.ts'
import {
  grantsOf,
  shownGrants,
  type TopicFlags,
  type TopicGrant,
  topicColumn,
  withTopics,
} from '../client/topic-flags.ts'
import { failure, usageError } from '../exit.ts'
import { counted, printJson, printLine, printResult, table } from '../output.ts'

export function addThings(program: Command): void {
  const things = program
    .command('things')
    .description('Create, list, rename and delete things, and give them topics.')

  withTopics(
    serverCommand(things, 'create', 'Create a thing and show its token once.', {
      examples: [
        ['things create boat', 'a thing called boat'],
        [
          'things create boat --json | jq -r .thingToken > boat.token',
          'its token into a file, for --credential-file',
        ],
      ],
      notes: [
        'The token is the credential of the device. The server keeps only its hash. If another thing has the same name, a line on stderr says so.',
      ],
    }),
  )
    .argument('[name]', 'name for people; need not be unique')
    .action(create)
  serverCommand(things, 'list', 'List the things that the credential may read.', {
    examples: [
      ['things list', 'all things, when each was last seen, and the devices of sources'],
      ['things list --bbox 23,59,24,61 --json', 'things near Porkkala, with their positions'],
    ],
  })
    .option('--name <text>', 'only things with this text in their name, in any case')
    .option('--bbox <west,south,east,north>', 'only things with a position in this box, in degrees')
    .action(list)
  serverCommand(things, 'rename', 'Rename a thing.', {
    examples: [
      ['things rename boat ketch', 'boat is called ketch from now on'],
      ['things rename abcdefgh234567ab boat', 'a thing that has no name yet, by its id'],
    ],
  })
    .argument('<thing>', 'id, or a name that is unique')
    .argument('<name>', 'new name')
    .action(rename)
  withTopics(
    serverCommand(
      things,
      'topics',
      'Show which topics besides those of things a thing may use, or give it others in their place.',
      {
        examples: [
          ['things topics plug', 'which ones it may use'],
          [
            "things topics plug --write-topic 'tele/plug/#' --read-topic 'cmnd/plug/#'",
            'these and no others; within the option topics, or the topics of a source',
          ],
          ['things topics plug --none', 'none at all'],
        ],
        notes: ['Connections of a thing that had more before are closed; the device connects again.'],
      },
    ),
  )
    .argument('<thing>', 'id, or a name that is unique')
    .option('--none', 'remove all topics')
    .action(topics)
  serverCommand(things, 'delete', 'Delete a thing with its tokens and its records.', {
    examples: [
      [
        'things delete abcdefgh234567ab',
        'the thing is gone at once; its records are removed in the background',
      ],
      ['export abcdefgh234567ab --output boat.ndjson', 'keep the records first'],
    ],
  })
    .argument('<id>', 'id of the thing; a name is not enough')
    .action(remove)
}

async function create(name: string | undefined, flags: ConnectionFlags & TopicFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const topics = grantsOf(flags)
  const namesake = name === undefined ? undefined : await firstCalled(client, name)
  const made = await client.post<{ thingId: string; thingToken: string }>('/v2/admin/things', {
    name,
    ...(topics.length > 0 && { topics }),
  })
  const { thingId, thingToken } = made
  if (namesake) warnOf(namesake, thingId)
  const once = 'The token is shown only once. The device sends it; for commands set THINGWIRE_TOKEN.'
  const text = `thing ${thingId}\ntoken ${thingToken}\n${once}`
  await printResult(flags, { thingId, name: name ?? '', thingToken }, text)
}

/**
 * Finds another thing with this name. Call this before a thing is created: an error afterwards would hide the new token.
 *
 * @param own id of a thing to ignore
 */
async function firstCalled(client: ServerClient, name: string, own = ''): Promise<ListedThing | undefined> {
  return (await findNamed(client, name)).find(thing => thing.thingId !== own)
}

function warnOf(namesake: ListedThing, thingId: string): void {
  console.error(
    `thingwire: warning: ${printable(namesake.name)} is also the name of ${namesake.thingId}: use the ids, or rename this thing: thingwire things rename ${thingId} <name>`,
  )
}

async function list(
  flags: ConnectionFlags & { readonly name?: string; readonly bbox?: string },
): Promise<void> {
  if (flags.bbox !== undefined) checkBox(flags.bbox)
  const client = await connect(flags, 'any')
  const filters = new URLSearchParams()
  if (flags.name !== undefined) filters.set('name', flags.name)
  if (flags.bbox !== undefined) filters.set('bbox', flags.bbox)
  const query = filters.size === 0 ? '' : `?${filters}`
  await noteIfSome(client)
  const found = await client.listAll<ListedThing, 'things'>(`/v2/things${query}`, 'things')
  // Sorted as on the web page: by name, with sensor 2 before sensor 10. The server sorts things by their random ids.
  const { compare } = new Intl.Collator(undefined, { numeric: true })
  found.sort((one, other) => compare(one.name, other.name) || compare(one.thingId, other.thingId))
  if (flags.json) return await printJson({ things: found })
  if (found.length === 0) {
    const isOperator = (await readPrincipal(client)).kind === 'admin'
    const advice = isOperator && query === '' ? ': create one with thingwire things create <name>' : ''
    return await printLine(`no things${advice}`)
  }
  const topics = topicColumn(found)
  const devices = deviceColumn(found)
  const rows = found.map(({ thingId, name, createdAt, lastSeen, lastWrite, position, ...thing }) => [
    thingId,
    name,
    createdAt,
    lastSeen ?? 'never',
    lastWrite ?? '',
    position ? `${position.lat}, ${position.long}` : '',
    ...topics.cells(thing),
    ...devices.cells(thing),
  ])
  const head = ['thing', 'name', 'created', 'last seen', 'last write', 'lat, long']
  await printLine(table([...head, ...topics.head, ...devices.head], rows))
}

/** The column with the devices of sources that things stand for. The column is left out if it would be empty. */
function deviceColumn(listed: readonly Pick<ListedThing, 'source'>[]) {
  const isShown = listed.some(({ source }) => source)
  return {
    head: isShown ? ['device'] : [],
    cells: ({ source }: Pick<ListedThing, 'source'>) =>
      isShown ? [source ? `${source.device}${source.isGone ? ', gone' : ''}` : ''] : [],
  }
}

/** @throws CommandError usage */
function checkBox(text: string): void {
  const numbers = text
    .split(',')
    .map(part => (/^\s*-?\d+(\.\d+)?\s*$/.test(part) ? Number(part) : Number.NaN))
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = numbers
  const isOnGlobe = Math.abs(west) <= 180 && Math.abs(east) <= 180 && south >= -90 && north <= 90
  if (numbers.length === 4 && isOnGlobe && south <= north) return
  throw usageError(
    `--bbox must be west,south,east,north in degrees, with south not above north, but it is ${text}`,
  )
}

async function rename(named: string, name: string, flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const { thingId } = await thingCalled(client, named)
  const namesake = await firstCalled(client, name, thingId)
  await client.call(`/v2/admin/things/${thingId}`, { method: 'PATCH', body: JSON.stringify({ name }) })
  if (namesake) warnOf(namesake, thingId)
  await printResult(flags, { thingId, name }, `${thingId} is now called ${name}`)
}

async function topics(
  named: string,
  flags: ConnectionFlags & TopicFlags & { readonly none?: true },
): Promise<void> {
  const given = grantsOf(flags)
  if (flags.none && given.length > 0)
    throw usageError('--none cannot be combined with --read-topic or --write-topic')
  const client = await connect(flags, 'operator')
  const { thingId } = await thingCalled(client, named)
  const topics = flags.none || given.length > 0 ? given : await topicsOf(client, thingId)
  if (topics === given) {
    await client.call(`/v2/admin/things/${thingId}`, { method: 'PATCH', body: JSON.stringify({ topics }) })
  }
  await printResult(flags, { thingId, topics }, `${thingId}: ${shownGrants(topics) || 'no topics'}`)
}

/** @throws CommandError failed */
async function topicsOf(client: ServerClient, thingId: string): Promise<readonly TopicGrant[]> {
  const thing = await describeThing(client, thingId)
  if (!thing) throw failure(`there is no thing ${thingId}: thingwire things list shows them`)
  return thing.topics ?? []
}

async function remove(id: string, flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  // Only an id is accepted: another thing may have the name by mistake, and a deletion cannot be undone.
  const { thingId } = await thingCalled(client, id)
  if (thingId !== id) throw failure(`${id} is a name: delete the thing by its id, ${thingId}`)
  await client.call(`/v2/admin/things/${thingId}`, { method: 'DELETE' })
  await printResult(flags, { thingId }, `${counted(1, 'thing')} deleted: ${thingId}`)
}
