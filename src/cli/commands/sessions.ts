import type { Command } from 'commander'
import { signInLink } from '../../core/token.ts'
import { orIfRefused, type ServerClient } from '../client/client.ts'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import { isCalled, type ListedThing, readPrincipal, thingCalled } from '../client/named-thing.ts'
import { grantsOf, type TopicFlags, type TopicGrant, topicColumn, withTopics } from '../client/topic-flags.ts'
import { refuseToken, usageError } from '../exit.ts'
import { printResult, table } from '../output.ts'

interface CreateFlags extends ConnectionFlags, TopicFlags {
  readonly all?: true
  readonly write?: true
  readonly expiresIn?: string
}

interface NewSession {
  readonly sessionToken: string
  readonly sessionId: string
  readonly expiresAt: string
}

interface ListedSession {
  readonly sessionId: string
  readonly things: '*' | readonly string[]
  readonly access: string
  readonly createdAt: string
  readonly topics?: readonly TopicGrant[]
  readonly expiresAt: string
}

/** Longest lifetimes by kind of credential, days (see session-registry.ts). The server refuses the request of a session anyway. */
const longestDays = { thing: 30, admin: 366, session: 366, source: 366 } as const
const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

export function addSessions(program: Command): void {
  const sessions = program
    .command('sessions')
    .description('Credentials for people, pages and apps, limited to some things, some rights and a time.')

  withTopics(
    serverCommand(sessions, 'create', 'Create a session and show its token once.', {
      examples: [
        ['sessions create boat --expires-in 7d', 'for a page that shows boat for a week'],
        ['sessions create --all --write --json', 'for an app that writes to all things for a day'],
        [
          "sessions create --read-topic 'tele/#' --write-topic 'cmnd/#'",
          'for an MQTT client of the house, on topics that the server relays (its option topics, and those of sources)',
        ],
      ],
    }),
  )
    .argument('[things...]', "ids or unique names; not needed with a thing's own token")
    .option('--all', 'for all things, also later ones')
    .option('--write', 'allow writing; default is reading only')
    .option(
      '--expires-in <time>',
      "lifetime, such as 30m, 12h or 7d; default 1 day, at most 366 days, or 30 days with a thing's token",
    )
    .action(create)
  serverCommand(sessions, 'list', 'List the live sessions, without their tokens.', {
    examples: [
      ['sessions list', 'things, access and end of each session'],
      ['sessions list --json', 'the same for a program'],
    ],
  }).action(list)
  serverCommand(sessions, 'revoke', 'End a session; its connections close within a second.', {
    examples: [
      ['sessions revoke q3v5k2a7m4x6', 'its token is refused from now on'],
      ['sessions list', 'shows the id'],
    ],
  })
    .argument('<sessionId>', 'id, as sessions list shows it')
    .action(revoke)
}

async function create(named: readonly string[], flags: CreateFlags): Promise<void> {
  const expiresIn = flags.expiresIn === undefined ? undefined : seconds(flags.expiresIn)
  const client = await connect(flags, 'any')
  const principal = await readPrincipal(client)
  const longest = longestDays[principal.kind]
  if (expiresIn !== undefined && expiresIn > longest * unitSeconds.d) {
    const whose = principal.kind === 'thing' ? " with a thing's token" : ''
    throw usageError(`--expires-in must be at most ${longest}d (days)${whose}, but it is ${flags.expiresIn}`)
  }
  const access = flags.write ? 'write' : 'read'
  const topics = grantsOf(flags)
  const terms = { access, expiresIn }
  if (principal.kind === 'thing') {
    const isOwn = !flags.all && named.every(name => isCalled(principal, name))
    if (topics.length > 0) throw usageError('only the operator can give topics to a session')
    if (!isOwn)
      throw usageError('the token of a thing can create sessions only for this thing: name no other thing')
    const made = await client.post<NewSession>(`/v2/things/${principal.thingId}/sessions`, terms)
    return await show(client, made, flags)
  }
  const isForNoThing = !flags.all && named.length === 0
  if ((flags.all && named.length > 0) || (isForNoThing && topics.length === 0)) {
    throw usageError('give the things of the session, or --all')
  }
  const things = flags.all
    ? '*'
    : await Promise.all(named.map(async name => (await thingCalled(client, name)).thingId))
  const body = { things, ...terms, ...(topics.length > 0 && { topics }) }
  const made = await client.post<NewSession>('/v2/admin/sessions', body)
  await show(isForNoThing ? undefined : client, made, flags)
}

/** @param client for the link of the page; undefined if the session is for no thing, since the page would be empty */
async function show(client: ServerClient | undefined, made: NewSession, flags: CreateFlags): Promise<void> {
  const { sessionToken, sessionId, expiresAt } = made
  const answer = { sessionId, expiresAt, sessionToken }
  const lines = [`id    ${sessionId}`, `until ${expiresAt}`, `token ${sessionToken}`]
  if (!client) return await printResult(flags, answer, [...lines, 'The token is shown only once.'].join('\n'))
  const link = signInLink(client.url, sessionToken)
  const once = 'Token and link are shown only once. The link opens the page signed in.'
  const text = [...lines, `link  ${link}`, once, ...(await placeForOthers(client))].join('\n')
  await printResult(flags, { ...answer, link }, text)
}

/** How another device reaches the page, if the link has the loopback address and the server listens on others too. */
async function placeForOthers(client: ServerClient): Promise<string[]> {
  const { urlForBrowsers } = await import('../../server/reachable.ts')
  const facts = await orIfRefused(client.call<{ loopback: boolean }>('/dashboard.json'), 404, {
    loopback: true,
  })
  const place = urlForBrowsers(
    client.url.replace(/\/\/(127\.0\.0\.1|localhost|\[::1\])(?=:|\/|$)/, '//0.0.0.0'),
  )
  if (facts.loopback || place === client.url) return []
  return [`On another device the link begins with ${place} in place of ${client.url}.`]
}

async function list(flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const sessions = await client.listAll<ListedSession, 'sessions'>('/v2/admin/sessions', 'sessions')
  sessions.sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
  const names = flags.json ? undefined : await uniqueNames(client)
  const topics = topicColumn(sessions)
  const rows = sessions.map(({ sessionId, access, expiresAt, things, ...session }) => [
    sessionId,
    // The access only applies to things, so it is not shown for a session without things.
    things.length === 0 ? '–' : access,
    expiresAt,
    things === '*' ? 'all' : things.map(id => names?.get(id) ?? id).join(', ') || '–',
    ...topics.cells(session),
  ])
  const head = ['session id', 'access', 'until', 'things', ...topics.head]
  await printResult(flags, { sessions }, table(head, rows))
}

/** Names by thing id. Things that share a name or have none are left out, since only their ids distinguish them. */
async function uniqueNames(client: ServerClient): Promise<ReadonlyMap<string, string>> {
  const idOf = new Map<string, string | undefined>()
  for await (const { thingId, name } of client.list<ListedThing, 'things'>('/v2/things', 'things'))
    idOf.set(name, name === '' || idOf.has(name) ? undefined : thingId)
  return new Map([...idOf].flatMap(([name, id]) => (id === undefined ? [] : [[id, name]])))
}

async function revoke(sessionId: string, flags: ConnectionFlags): Promise<void> {
  refuseToken(sessionId, 'give the id of the session, which thingwire sessions list shows')
  const client = await connect(flags, 'operator')
  await client.call(`/v2/admin/sessions/${encodeURIComponent(sessionId)}`, { method: 'DELETE' })
  await printResult(flags, { sessionId }, `session ${sessionId} is revoked`)
}

function seconds(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined)
    return Number(count) * unitSeconds[unit as keyof typeof unitSeconds]
  throw usageError(`--expires-in must be a whole number and s, m, h or d, such as 12h, but it is ${text}`)
}
