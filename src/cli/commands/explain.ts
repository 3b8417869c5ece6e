import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import type { Command } from 'commander'
import { printable } from '../../core/json/printable.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import { isTopicName } from '../../core/topics/topic-filter.ts'
import type { FieldError } from '../../errors.ts'
import type { Message, SourceReader } from '../../formats/format.ts'
import { failure, usageError } from '../exit.ts'
import { withHelp } from '../help.ts'
import { counted, printResult, table } from '../output.ts'
import { linesOf } from '../records/text.ts'

interface Flags {
  readonly format?: readonly string[]
  readonly levels?: string
  readonly topic?: string
  readonly pattern?: string
  readonly json?: true
}

interface TakenRecord {
  readonly key: string
  readonly value: unknown
  readonly datetime?: string
}

/** How a server would take the records of a message. */
interface Explanation {
  readonly records: readonly TakenRecord[]
  readonly rejected: readonly FieldError[]
  /** Why nothing of the message is taken, if no record is the cause. */
  readonly refused?: string
}

/** The formats of a source, in the order in which they are tried. */
type Formats = readonly { readonly name: string; readonly reader: SourceReader }[]

/** How a server would take a message of a source. */
type SourceExplanation = Awaited<ReturnType<typeof explanationOfMessage>>

export function addExplain(program: Command): void {
  withHelp(
    program
      .command('explain')
      .description('Show what a server would store of messages in other formats. Asks no server.')
      .usage('<file> [--topic <topic>] [--format <name>] [--levels <levels>] [--pattern <pattern>] [--json]')
      .argument('<file>', 'file with messages of a source, or with one message; - is stdin')
      .option(
        '--format <name>',
        "value, json or influx: of a message to a thing's own address; else a format of the source, which can be repeated; default: those of a house",
        (name: string, before: readonly string[] = []) => [...before, name],
      )
      .option('--levels <levels>', 'what follows the format in the address, such as cellar/temperature')
      .option('--topic <topic>', 'topic of the one message of a source that the file holds')
      .option('--pattern <pattern>', "of the format levels, such as 'garden/{device}/{key}'")
      .option('--json', 'one JSON document for each message')
      .action(explain),
    {
      examples: [
        ['explain -', "what devices send, as it comes: behind mosquitto_sub -v -t '#' |"],
        ['explain sensor.json --topic tele/plug/SENSOR', 'one message of a source'],
        ['explain reading.json --format json --levels cellar', 'sent to things/<token>/write/json/cellar'],
        ['explain - --format influx < metrics.txt', 'line protocol from stdin'],
      ],
      notes: [
        'Without --topic, each line is a message of a source: topic, space and payload, as mosquitto_sub -v prints them, or {"topic":…,"payload":…}, as mosquitto_sub -F %j does, which a topic with a space or a payload of several lines needs. What a message announces counts for those that follow.',
        'A value that is no reading, such as null or unavailable, is not stored, and is not in the table. If a record is refused, a server stores nothing of the message, unless the write has partial=true. Of a message of a source it stores the rest.',
      ],
      exit: '0 the messages would be stored, or have no reading; 1 one would be refused, in whole or in part, or cannot be read; 2 wrong command line',
    },
  )
}

async function explain(file: string, flags: Flags): Promise<void> {
  // Loaded only now: other commands need nothing of the server.
  const { formatsOf, ownFormats, sourceRules } = await import('../../formats/registry.ts')
  const { format: chosen = sourceRules.defaultFormats, levels, topic, pattern } = flags
  const [own = ''] = chosen.length === 1 ? chosen : []
  if (ownFormats.has(own) && topic === undefined && pattern === undefined)
    return await explainWrite(file, levels === undefined ? own : `${own}/${levels}`, flags)
  const fault = sourceRules.fault(chosen, pattern)
  if (fault !== undefined) throw usageError(`${fault}; without --topic also value or json`)
  if (levels !== undefined) throw usageError('--levels must be given with --format value or json')
  if (topic !== undefined && !isTopicName(topic))
    throw usageError('--topic must be a topic without wildcards, but it is none')
  const formats = formatsOf(chosen, pattern).map(({ name, begin }) => ({ name, reader: begin() }))
  await explainMessages(messagesIn(file, topic), formats, flags)
}

async function explainWrite(file: string, address: string, { json }: Flags): Promise<void> {
  const body = await buffer(input(file))
  const { writeFormats } = await import('../../formats/write-formats.ts')
  const { records, rejected, refused } = await explanationOf(() => writeFormats.read(address, body))
  if (refused !== undefined) throw failure(refused)
  const text = records.length === 0 ? 'no reading' : recordTable(records)
  if (json || records.length > 0 || rejected.length === 0)
    await printResult({ json }, { records, rejected }, text)
  if (rejected.length === 0) return
  throw failure(
    `the message is refused for ${counted(rejected.length, 'record')}`,
    rejected.map(({ index, message, reason }) => `record ${index}: ${message} (${reason})`),
  )
}

function input(file: string) {
  if (file !== '-') return createReadStream(file)
  if (process.stdin.isTTY) throw usageError('give a file, or the messages on stdin')
  return process.stdin
}

/**
 * Yields the messages, and for a line that holds none, the reason.
 *
 * @param topic of the one message that the file holds; absent: each line is a message
 */
async function* messagesIn(file: string, topic: string | undefined): AsyncGenerator<Message | string> {
  if (topic !== undefined) return yield { topic, payload: await buffer(input(file)), receivedAt: Date.now() }
  const { decode } = await import('../../formats/payload.ts')
  let number = 0
  // A payload need not be UTF-8, and this encoding keeps every byte.
  for await (const text of linesOf(input(file).setEncoding('latin1'))) {
    number++
    if (text === '') continue
    const line = Buffer.from(text, 'latin1')
    const { topic, payload } = decode(line)?.members ?? splitAtSpace(line)
    if (typeof topic === 'string' && isTopicName(topic))
      yield { topic, payload: bytesOf(payload ?? ''), receivedAt: Date.now() }
    else
      yield `line ${number} must be a topic, a space and a payload, or JSON with topic and payload, but it is neither`
  }
}

function splitAtSpace(line: Buffer): Readonly<Record<string, unknown>> {
  const space = line.indexOf(' ')
  if (space === -1) return {}
  const payload = line.subarray(space + 1)
  // mosquitto_sub prints `(null)` for an empty payload.
  return { topic: line.toString('utf8', 0, space), payload: `${payload}` === '(null)' ? '' : payload }
}

function bytesOf(payload: unknown): Uint8Array {
  if (payload instanceof Uint8Array) return payload
  return Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
}

async function explainMessages(messages: AsyncIterable<Message | string>, formats: Formats, flags: Flags) {
  let [count, faults] = [0, 0]
  for await (const message of messages) {
    count++
    if (typeof message === 'string') {
      faults++
      console.error(message)
      continue
    }
    const explanation = await explanationOfMessage(message, formats)
    faults += explanation.unread.length
    await printResult(flags, explanation, textOfMessage(explanation))
  }
  if (count === 0) throw failure('there is no message')
  if (faults > 0) throw failure(`${counted(faults, 'part')} of the messages cannot be read or stored`)
}

/** Reads a message as the service of sources does, and learns from it. */
async function explanationOfMessage(message: Message, formats: Formats) {
  const { topic } = message
  const knowing = (how: string) => formats.find(({ reader }) => reader.knows(topic) === how)
  const format = knowing('fact') ?? knowing('form')
  if (!format) return { topic, readings: [], announced: [], facts: [], gone: [], unread: [] }
  const { name, reader } = format
  const { wholeOf } = await import('../../formats/format.ts')
  const outcome = wholeOf(reader.read(message))
  const { readings, facts = new Map(), described = [], gone = [], unread = [] } = outcome
  const before = new Map(described.map(device => [device, reader.describe(device)?.resources]))
  for (const [name, fact] of facts) reader.learn(name, fact)
  const announced = described.map(device => {
    const { resources = {}, ...names } = reader.describe(device) ?? {}
    const changed = Object.entries(resources).filter(
      ([key, members]) => JSON.stringify(members) !== JSON.stringify(before.get(device)?.[key]),
    )
    return { device, ...names, resources: Object.fromEntries(changed) }
  })
  const taken: { device: string; alias: string | undefined; records: readonly TakenRecord[] }[] = []
  const missing = [...unread]
  for (const { device, alias, records: sent } of readings) {
    const { records, rejected, refused } = await explanationOf(() => sent)
    taken.push({ device, alias, records })
    for (const { index, message, reason } of rejected)
      missing.push({ place: sent[index]?.key ?? '', reason: `${message} (${reason})` })
    if (refused !== undefined) missing.push({ place: '', reason: refused })
  }
  const learned = [...facts.keys()].filter(name => facts.get(name))
  return { topic, format: name, readings: taken, announced, facts: learned, gone, unread: missing }
}

function textOfMessage(explanation: SourceExplanation): string {
  const { topic, format, readings, announced, facts, gone, unread } = explanation
  if (format === undefined)
    return `${printable(topic)}: no format knows this topic: it is relayed and not read`
  const lines = [
    ...readings.flatMap(({ device, alias, records }) => [
      `device ${device}${alias === undefined || alias === device ? '' : ` (${alias})`}`,
      ...(records.length === 0 ? [] : recordTable(records).split('\n')),
    ]),
    ...announced.flatMap(({ device, resources, ...names }) => [
      `announces ${wordsOf(device, names)}`,
      ...Object.entries(resources).map(([key, members]) => `  ${wordsOf(key, members)}`),
    ]),
    ...(announced.length === 0 && gone.length === 0 ? facts.map(name => `announces ${name}`) : []),
    ...gone.map(device => `says that ${device} is gone`),
    ...unread.map(({ place, reason }) => `not stored: ${place === '' ? '' : `${place}: `}${reason}`),
  ]
  if (lines.length === 0) lines.push('no reading')
  return [`${topic}: ${format}`, ...lines.map(line => `  ${line}`)].map(printable).join('\n')
}

/** Such as `temperature: unit °C, decimals 1`. */
function wordsOf(subject: string, members: object): string {
  const words = Object.entries(members).flatMap(([name, value]) => (value === null ? [] : `${name} ${value}`))
  return words.length === 0 ? subject : `${subject}: ${words.join(', ')}`
}

function recordTable(records: readonly TakenRecord[]): string {
  const rows = records.map(({ key, value, datetime = 'receipt time' }) => [
    key,
    JSON.stringify(value),
    datetime,
  ])
  return table(['key', 'value', 'time'], rows)
}

async function explanationOf(read: () => readonly unknown[]): Promise<Explanation> {
  const { parseWrite, WriteRefused } = await import('../../core/parse.ts')
  const { createMagicRegistry } = await import('../../magic/registry.ts')
  try {
    const { records, rejected } = parseWrite(new Uint8Array(), {
      options: { partial: true },
      now: Date.now(),
      magic: createMagicRegistry(),
      read,
    })
    const taken = records.map(({ key, value, datetime, explicit }) => ({
      key,
      value: JSON.parse(value) as unknown,
      ...(explicit && { datetime: formatDatetime(datetime) }),
    }))
    return { records: taken, rejected }
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error
    if (error.errors) return { records: [], rejected: error.errors }
    return { records: [], rejected: [], refused: `${error.message} (${error.reason})` }
  }
}
