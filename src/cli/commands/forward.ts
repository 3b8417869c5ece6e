import type { Command } from 'commander'
import { printable } from '../../core/json/printable.ts'
import type { Forwarding, ForwardingAnswer } from '../../http/routes/admin-forward.ts'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import type { ListedThing } from '../client/named-thing.ts'
import { failure, usageError } from '../exit.ts'
import { withHelp } from '../help.ts'
import { counted, printResult, table } from '../output.ts'
import { durationText, sizeText } from '../progress.ts'
import { loadServerOptions, serverFlags } from './serve.ts'

const sendLater =
  'Refused records stay in the store here. To send one later: thingwire read <thing> <key> --from <time> --to <time> here, into a file for thingwire write --file at the central server.'

/** `thingwire forward` and `thingwire forwarding`. */
export function addForward(program: Command): void {
  withHelp(
    program
      .command('forward')
      .description('Run a server that forwards its records to a central server.')
      .usage('--to <url> --things <file> [--config <file>] [--<option> <value>]…')
      .argument('[options...]', 'options of the server, such as --data-dir')
      .option('--to <url>', 'central server, such as mqtts://central.example (option forward)')
      .option('--things <file>', 'token there of each thing here (option forwardThings)')
      .allowUnknownOption()
      .action((_operands: string[], flags: { to?: string; things?: string }, command: Command) =>
        forward(command, flags),
      ),
    {
      examples: [
        [
          'forward --to mqtts://central.example --things things.json --data-dir ./data',
          'as thingwire serve, and forwards the things of the file',
        ],
        [
          'forward --to wss://central.example/mqtt --things things.json --forward-bytes-per-second 5000',
          'over WebSocket, with at most 5,000 bytes a second',
        ],
      ],
      notes: [
        'things.json contains a JSON object of thing ids, each with a thing token or an activation code of the central server; see docs/use/forward.md. Only its owner may be able to read it (chmod 600).',
        'First the command tries the tokens. It does not start if the target is not a Thingwire server or refuses a token. If the target cannot be reached, it starts anyway and keeps trying.',
        'thingwire serve with the options forward and forwardThings does the same without that trial.',
      ],
      exit: '0 stopped by SIGTERM or Ctrl-C; 1 failed, with a line on stderr; 2 wrong command line',
    },
  )
  serverCommand(program, 'forwarding', 'Show how far forwarding to the central server has come.', {
    examples: [
      ['forwarding', 'what waits, which things are held back, which records were refused'],
      ['forwarding --json | jq .waiting.records', 'the number of records that wait'],
    ],
  }).action(forwarding)
}

async function forward(command: Command, { to, things }: { to?: string; things?: string }): Promise<void> {
  const { flags, operands } = await serverFlags(command.args, usageError)
  if (operands.length > 0) throw usageError(`forward takes only options, not ${operands[0]} (see --help)`)
  const options = await loadServerOptions(
    {
      ...flags,
      ...(to !== undefined && { forward: to }),
      ...(things !== undefined && { 'forward-things': things }),
    },
    {
      ...(to !== undefined && { forward: '--to' }),
      ...(things !== undefined && { forwardThings: '--things' }),
    },
  )
  if (options.forward === undefined) {
    const status = 'to see how far a running server has come: thingwire forwarding'
    throw usageError(`forward needs --to <url> of the central server (see --help); ${status}`)
  }
  await tryTarget(options)
  const { runServer } = await import('../../server/run.ts')
  await runServer(options)
}

/** Tries the target. @throws CommandError failed: the target is not a Thingwire server or refuses a thing */
async function tryTarget(options: Awaited<ReturnType<typeof loadServerOptions>>): Promise<void> {
  const { forwardingOf } = await import('../../server/keeping/forwarding.ts')
  const { checkTarget } = await import('../../forward/check-target.ts')
  const silent = () => {}
  const forwarded = await forwardingOf(options, { info: silent, warn: silent, error: silent })
  if (!forwarded) return
  const { url } = forwarded.target
  const { faults, down, wrong } = await checkTarget(forwarded.target, forwarded.map)
  if (wrong !== undefined) throw failure(`${url} is not a Thingwire server: ${wrong}`)
  const [first] = faults
  if (first) {
    const others = faults.length === 1 ? '' : `, and ${counted(faults.length - 1, 'other thing')}`
    throw failure(
      `${url} does not accept thing ${first.thingId}${others}: ${first.why}`,
      faults.slice(1).map(({ thingId, why }) => `${thingId}: ${why}`),
    )
  }
  if (down !== undefined) console.error(`thingwire: cannot reach ${url} yet: ${down}`)
}

async function forwarding(flags: ConnectionFlags): Promise<void> {
  const client = await connect(flags, 'operator')
  const answer = await client.call<ForwardingAnswer>('/v2/admin/forward')
  if (answer.target === null) return await printResult(flags, answer, 'The server forwards nothing.')
  const there = new Map(answer.activated?.map(each => [each.thingId, each.there]))
  const rows: string[][] = []
  if (there.size > 0)
    for await (const { thingId, name } of client.list<ListedThing, 'things'>('/v2/things', 'things'))
      if (there.has(thingId)) rows.push([thingId, name, there.get(thingId) ?? ''])
  const head = ['activated thing', 'name here', 'thing id at the central server']
  const activated = rows.length === 0 ? '' : `\n\n${table(head, rows)}`
  await printResult(flags, answer, textOf(answer) + activated)
}

function textOf(forwarding: Forwarding): string {
  const { target, connected, problem, waiting, forwarded, refusedRecords, droppedRecords } = forwarding
  const state = connected ? 'connected' : (problem ?? 'not connected')
  const oldest = waiting.oldest === undefined ? '' : `, the oldest ${waitText(waiting.oldest)}`
  const more = waiting.counted ? '' : ', not all of them counted yet'
  const rows: readonly (readonly [string, string])[] = [
    ['Central server', `${target}: ${printable(state)}`],
    ['Waiting', `${counted(waiting.records, 'record')}, ${sizeText(waiting.bytes)}${oldest}${more}`],
    ['Forwarded', `${counted(forwarded.records, 'record')}, ${sizeText(forwarded.bytes)} since the start`],
    ['Refused', counted(refusedRecords, 'record')],
    ['Given up', `${counted(droppedRecords, 'record')}: more waited than forwardLogLimit`],
  ]
  const given = droppedRecords > 0 ? rows : rows.slice(0, -1)
  return [given.map(([name, text]) => name.padEnd(17) + text).join('\n'), ...tablesOf(forwarding)].join(
    '\n\n',
  )
}

/** How long records have been waiting, and since when. */
function waitText(since: string): string {
  const passed = Math.max(0, Date.now() - Date.parse(since))
  return `for ${durationText(passed)}, since ${since}`
}

function tablesOf({
  held,
  refused,
  mapProblem,
  unknownThings = [],
  omittedThings = [],
}: Forwarding): readonly string[] {
  const heldRows = held.map(({ thingId, since, why }) => [thingId, since, why])
  const refusedRows = refused.map(({ thingId, key, datetime, reason, message }) => {
    return [thingId, key, datetime, reason, message]
  })
  return [
    ...(mapProblem === undefined
      ? []
      : [`${printable(mapProblem)}; forwarding continues with the previous thing map`]),
    ...unknownThings.map(
      thingId =>
        `The thing map names ${thingId}, but this server has no such thing: see thingwire things list`,
    ),
    ...(omittedThings.length > 0
      ? [`Not forwarded, since the thing map does not have them: ${omittedThings.join(', ')}`]
      : []),
    ...(held.length > 0 ? [table(['held thing', 'since', 'why'], heldRows)] : []),
    ...(refused.length > 0
      ? [table(['refused record of', 'key', 'datetime', 'reason', 'message'], refusedRows), sendLater]
      : []),
  ]
}
