import type { Command } from 'commander'
import { printable } from '../../core/json/printable.ts'
import type { ServerClient } from '../client/client.ts'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import { failure, refuseToken, usageError } from '../exit.ts'
import { printResult, table } from '../output.ts'

interface TermFlags {
  readonly format?: readonly string[]
  readonly topic?: readonly string[]
  readonly pattern?: string
  readonly known?: true
  readonly overlap?: true
}

interface ListedSource {
  readonly sourceId: string
  readonly name: string
  readonly formats: readonly string[]
  readonly pattern?: string
  readonly topics: readonly string[]
  readonly things: 'create' | 'known'
  readonly createdAt: string
}

interface Made {
  readonly sourceId: string
  readonly sourceToken: string
}

interface Unread {
  readonly datetime: string
  readonly reason: string
  readonly message: string
  readonly count?: number
}

export function addSources(program: Command): void {
  const sources = program
    .command('sources')
    .description(
      'Credentials for devices as they come: a house, a gateway. Each of their devices gets a thing.',
    )

  withTerms(
    serverCommand(sources, 'add', 'Add a source, and show what to enter in its devices.', {
      examples: [
        ['sources add house', 'for Tasmota, Zigbee2MQTT, Shelly and what Home Assistant discovers'],
        [
          "sources add garden --format levels --pattern 'garden/{device}/{key}' --topic 'garden/#'",
          'for topics of your own: garden/pump/pressure is the pressure of the thing pump',
        ],
      ],
      notes: [
        'The password is shown only once. All devices of a source share it, and are not kept apart: for devices that must be, add several sources with topics of their own.',
      ],
    }),
  )
    .argument('<name>', 'name for people; also the user name')
    .action(add)
  serverCommand(sources, 'list', 'List the sources, without their passwords.', {
    examples: [
      ['sources list', 'formats and topics of each source'],
      ['sources list --json', 'the same for a program'],
    ],
  }).action(list)
  serverCommand(sources, 'show', 'Show a source and how many things it has.', {
    examples: [
      ['sources show house', 'its formats and topics'],
      ['sources show house --json', 'the same for a program'],
    ],
  })
    .argument('<source>', 'id, or a name that is unique')
    .action(show)
  withTerms(
    serverCommand(sources, 'set', 'Change a source; its devices connect again.', {
      examples: [
        [
          "sources set house --topic 'tele/#' --topic 'stat/#' --topic 'cmnd/#'",
          'these topics and no others',
        ],
        ['sources set house --known', 'makes no more things for new devices'],
      ],
    }),
  )
    .argument('<source>', 'id, or a name that is unique')
    .option('--name <name>', 'new name')
    .option('--create', 'makes a thing for each new device')
    .action(set)
  serverCommand(sources, 'password', 'Give a source a new password; the one before is refused at once.', {
    examples: [
      ['sources password house', 'shows what to enter in its devices, whose things stay'],
      ['sources password house --json', 'the same for a program'],
    ],
  })
    .argument('<source>', 'id, or a name that is unique')
    .action(password)
  serverCommand(sources, 'remove', 'Remove a source; its things and their records stay.', {
    examples: [
      ['sources remove abcdefgh234567ab', 'its password is refused from now on'],
      ['sources list', 'shows the id'],
    ],
  })
    .argument('<id>', 'id of the source; a name is not enough')
    .action(remove)
  serverCommand(sources, 'errors', 'List what could not be read or stored of a source, newest first.', {
    examples: [
      ['sources errors house', 'topic, place and reason'],
      ['sources errors house --json', 'the same for a program'],
    ],
  })
    .argument('<source>', 'id, or a name that is unique')
    .action(errors)
}

function withTerms(command: Command): Command {
  return command
    .option(
      '--format <name>',
      'format that it reads; can be repeated; the first one that knows a topic reads it',
      another,
    )
    .option('--topic <filter>', 'topics that it may use, such as tele/#; can be repeated; default #', another)
    .option('--pattern <pattern>', 'of the format levels, such as garden/{device}/{key}')
    .option('--known', 'makes no things: only devices that a thing is attached to are read')
    .option('--overlap', 'its topics may overlap those of another source')
}

function another(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/** The members of the body that the options give. */
function termsOf({ format, topic, pattern, known, overlap }: TermFlags) {
  return { formats: format, topics: topic, pattern, ...(known && { things: 'known' }), overlap }
}

async function add(name: string, flags: ConnectionFlags & TermFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const source = { name, ...termsOf(flags) }
  const { sourceId, sourceToken } = await client.post<Made>('/v2/admin/sources', source)
  await printWaysIn(client, sourceId, sourceToken, flags)
}

async function password(named: string, flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const { sourceId } = await sourceCalled(client, named)
  const { sourceToken } = await client.call<{ sourceToken: string }>(`/v2/admin/sources/${sourceId}/token`, {
    method: 'POST',
  })
  await printWaysIn(client, sourceId, sourceToken, flags)
}

/** Prints what to enter in the devices of a source. */
async function printWaysIn(
  client: ServerClient,
  sourceId: string,
  sourceToken: string,
  flags: ConnectionFlags,
): Promise<void> {
  const { name, formats, topics } = await client.call<ListedSource>(`/v2/admin/sources/${sourceId}`)
  // Loaded only now: other commands need nothing of the server.
  const { sourceRules } = await import('../../formats/registry.ts')
  const { host, port, tlsPort, isLoopback } = await brokerOf(client)
  const url = new URL(client.url)
  url.hostname = host
  const ofBroker = [
    'Enter this in each device, as its MQTT broker:',
    `  host      ${host}`,
    `  port      ${port}${tlsPort === undefined ? '' : `, with TLS ${tlsPort}`}`,
    `  user      ${printable(name)}`,
    `  password  ${sourceToken}`,
  ]
  const ofWebhook = [
    'Enter this as the address of a webhook:',
    `  url       ${url.origin}/v2/sources/${sourceToken}`,
  ]
  const ofInflux = [
    'Enter this as the address of InfluxDB, with any organization, bucket and database:',
    `  url       ${url.origin}`,
    `  password  ${sourceToken}`,
  ]
  const lines = [
    ...(topics.length > 0 ? ofBroker : []),
    ...(sourceRules.readsWebhooks(formats) ? ofWebhook : []),
    ...(formats.includes('influx') ? ofInflux : []),
    `The password is shown only once. The source is ${sourceId}: thingwire sources show ${sourceId}`,
    ...(isLoopback
      ? ['Only this machine reaches the server: start it with --host 0.0.0.0 for devices on the network.']
      : []),
  ]
  const answer = { sourceId, name, host, port, ...(tlsPort !== undefined && { tlsPort }), sourceToken }
  await printResult(flags, { ...answer, reachable: !isLoopback }, lines.join('\n'))
}

interface Facts {
  readonly mqttPort?: number
  readonly mqttsPort?: number
  readonly loopback: boolean
}

/** Where devices find the server: if the command talks to it over a loopback address, its address in the network. */
async function brokerOf(client: ServerClient) {
  const { urlForBrowsers } = await import('../../server/reachable.ts')
  const { mqttPort = 1883, mqttsPort, loopback } = await client.call<Facts>('/dashboard.json')
  const isOwn = (host: string) => /^(127\.0\.0\.1|localhost|\[::1\])$/.test(host)
  const { hostname } = new URL(client.url)
  const inNetwork = isOwn(hostname) && !loopback
  const host = inNetwork ? new URL(urlForBrowsers('http://0.0.0.0')).hostname : hostname
  return { host, port: mqttPort, tlsPort: mqttsPort, isLoopback: isOwn(host) }
}

async function list(flags: ConnectionFlags): Promise<void> {
  const sources = await readSources(await connect(flags, 'operator'))
  const rows = sources.map(({ sourceId, name, formats, topics, things, createdAt }) => [
    ...[sourceId, name, formats.join(', '), topics.join(', ')],
    ...[things === 'known' ? 'known' : 'created', createdAt],
  ])
  const text =
    rows.length === 0
      ? 'no sources: add one with thingwire sources add <name>'
      : table(['source', 'name', 'formats', 'topics', 'things', 'created'], rows)
  await printResult(flags, { sources }, text)
}

async function readSources(client: ServerClient): Promise<readonly ListedSource[]> {
  return (await client.call<{ sources: readonly ListedSource[] }>('/v2/admin/sources')).sources
}

/** Finds a source by its id or unique name. @throws CommandError usage, credential, failed */
async function sourceCalled(client: ServerClient, named: string): Promise<ListedSource> {
  refuseToken(named, 'give the id of the source, which thingwire sources list shows')
  const sources = await readSources(client)
  const found = sources.filter(({ sourceId, name }) => sourceId === named || name === named)
  const source = found.find(({ sourceId }) => sourceId === named) ?? found[0]
  if (!source) throw failure(`there is no source ${named}: thingwire sources list shows them`)
  if (found.length > 1 && source.sourceId !== named)
    throw failure(
      `${found.length} sources are called ${named}: use an id of ${found.map(({ sourceId }) => sourceId).join(', ')}`,
    )
  return source
}

async function show(named: string, flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const source = await sourceCalled(client, named)
  const { sourceId, name, formats, pattern, topics, createdAt } = source
  const things = await client.listAll<unknown, 'things'>(`/v2/admin/things?source=${sourceId}`, 'things')
  const rows: readonly (readonly [string, string])[] = [
    ['id', sourceId],
    ['name', printable(name)],
    ['formats', formats.join(', ')],
    ...(pattern === undefined ? [] : [['pattern', pattern] as const]),
    ['topics', topics.join(', ') || 'none'],
    ['things', `${things.length}${source.things === 'known' ? ', and makes no more' : ''}`],
    ['created', createdAt],
  ]
  const text = rows.map(([title, value]) => `${title.padEnd(8)} ${value}`).join('\n')
  await printResult(flags, { ...source, thingCount: things.length }, text)
}

async function set(
  named: string,
  flags: ConnectionFlags & TermFlags & { readonly name?: string; readonly create?: true },
): Promise<void> {
  if (flags.known && flags.create) throw usageError('--known cannot be combined with --create')
  const change = { name: flags.name, ...termsOf(flags), ...(flags.create && { things: 'create' }) }
  if (Object.values(change).every(value => value === undefined))
    throw usageError('give what to change, such as --topic or --format')
  const client = await connect(flags, 'operator')
  const { sourceId } = await sourceCalled(client, named)
  await client.call(`/v2/admin/sources/${sourceId}`, { method: 'PATCH', body: JSON.stringify(change) })
  await printResult(flags, { sourceId }, `source ${sourceId} is changed; its devices connect again`)
}

async function remove(id: string, flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const { sourceId } = await sourceCalled(client, id)
  if (sourceId !== id) throw failure(`${id} is a name: remove the source by its id, ${sourceId}`)
  await client.call(`/v2/admin/sources/${sourceId}`, { method: 'DELETE' })
  await printResult(flags, { sourceId }, `source ${sourceId} is removed; its things and their records stay`)
}

async function errors(named: string, flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const source = await sourceCalled(client, named)
  const { sourceId } = source
  const found = await client.call<readonly Unread[]>(`/v2/admin/sources/${sourceId}/errors`)
  const rows = found.map(({ datetime, reason, message, count = 1 }) => [
    ...[datetime, reason, String(count), message],
  ])
  const text =
    rows.length === 0
      ? `nothing was refused${unknownTopicsOf(source)}`
      : table(['last', 'reason', 'count', 'message'], rows)
  await printResult(flags, { errors: found }, text)
}

/** How to see the topics that no format of a source knows, which are relayed and no error. */
function unknownTopicsOf({ sourceId, formats, pattern, topics }: ListedSource): string {
  if (topics.length === 0) return ''
  const chosen = [
    ...formats.map(name => `--format ${name}`),
    ...(pattern === undefined ? [] : [`--pattern '${pattern}'`]),
  ]
  const read = topics.map(filter => `-t '${filter}'`).join(' ')
  return `. A topic that no format knows is not listed; this shows it:\nmosquitto_sub -v ${read} -u ${sourceId} -P <password> | thingwire explain - ${chosen.join(' ')}`
}
