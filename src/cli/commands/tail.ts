import type { Command } from 'commander'
import { printable } from '../../core/json/printable.ts'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import { findThing, isCalled, readPrincipal } from '../client/named-thing.ts'
import { printLine, valueText } from '../output.ts'
import { eventsOf } from '../reading/event-source.ts'
import { knownKeys, type ReadRecord } from '../reading/read-records.ts'

interface Flags extends ConnectionFlags {
  readonly ndjson?: true
}

export function addTail(program: Command): void {
  serverCommand(
    program,
    'tail',
    'Show new readings of a thing as they arrive.',
    {
      examples: [
        ['tail boat', 'all new readings, until Ctrl-C'],
        ["tail boat depth --ndjson | jq -c 'select(.value < 3)'", 'only shallow water'],
      ],
      notes: [
        'After a lost connection tail connects again and shows the missed readings, without a gap, if the server still keeps them (docs/use/streams.md says for how long). If not, a line on stderr says so, and thingwire read has the readings.',
      ],
    },
    'the same as --ndjson',
  )
    .argument('[thing]', "id or unique name; left out with a thing's own token")
    .argument('[keys...]', 'show only these keys')
    .option('--ndjson', 'one JSON object a line; the default if stdout is not a terminal')
    .action(tail)
}

async function tail(first: string | undefined, rest: readonly string[], flags: Flags): Promise<void> {
  const client = await connect(flags, 'any')
  const principal = await readPrincipal(client)
  const isKey = principal.kind === 'thing' && first !== undefined && !isCalled(principal, first)
  const { thingId, name } = await findThing(client, isKey ? undefined : first)
  const keys = new Set(isKey ? [first, ...rest] : rest)
  const isTable = !flags.ndjson && !flags.json && process.stdout.isTTY === true
  const say = (text: string) => process.stderr.write(`${text}\n`)
  if (keys.size > 0) {
    const { unknown, has } = await knownKeys(client, thingId, [...keys])
    if (unknown.length > 0) say(`${name || thingId} has no key ${unknown.join(', ')} yet: ${has}`)
  }
  const events = eventsOf(client, `/v2/things/${thingId}`, {
    onOpen: isAgain => say(isAgain ? 'connected again' : `watching ${name || thingId}`),
    onLost: (why, seconds) => say(`${why}: again in ${seconds} s`),
  })
  for await (const { event, data } of events) {
    if (event === 'reset') {
      say(`readings were missed while the connection was lost: thingwire read ${name || thingId} has them`)
    }
    if (event !== 'values') continue
    for (const record of JSON.parse(data) as ReadRecord[]) {
      if (keys.size > 0 && !keys.has(record.key)) continue
      await printLine(isTable ? line(record) : JSON.stringify(record))
    }
  }
}

function line({ datetime, key, value, geo }: ReadRecord): string {
  const place = geo ? `  at ${geo.lat}, ${geo.long}` : ''
  return printable(`${datetime}  ${key.padEnd(16)}  ${valueText(geo ? (value ?? '') : value)}${place}`)
}
