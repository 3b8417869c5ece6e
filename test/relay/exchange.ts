import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connectAsync, type MqttClient } from 'mqtt'
import { Changes } from '../helpers/changes.ts'
import { Child } from '../helpers/child.ts'
import { ask, readAll, type Session, type Thing } from '../helpers/http-client.ts'
import { freePort } from '../helpers/redis-server.ts'
import { noRateLimits, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { SequenceCheck } from '../rig/ledger.ts'

/**
 * Clients of mqtt.js, paho and mosquitto exchange messages on other topics, 20 in flight each, while they write readings of their
 * things on the same connections. Every message is to come to every subscriber, in its order, and every write to be stored.
 */

export interface ExchangeOptions {
  readonly dataDir: string
  /** Messages in all, and as many writes. */
  readonly messages: number
  /** Whether the server is killed in the middle, and started again: then only sessions that outlive a connection see all. */
  readonly isKilled: boolean
}

/** How long may pass without a message before the rest is given up, milliseconds. */
const patience = 60_000

interface Expected {
  readonly topic: string
  readonly count: number
}

/** The numbers that one subscriber has received on each topic: from 0 on, each once, if nothing is wrong. */
class Sequences {
  readonly #topics = new Map<string, SequenceCheck>()
  readonly #mayRepeat: boolean
  readonly #changes = new Changes()
  count = 0

  /** @param mayRepeat whether a message may come again: its publisher may have sent it again */
  constructor(mayRepeat: boolean) {
    this.#mayRepeat = mayRepeat
  }

  add(topic: string, n: number): void {
    const sequence = this.#topics.get(topic) ?? new SequenceCheck(topic)
    this.#topics.set(topic, sequence)
    if (n === sequence.next) this.count++
    else if (this.#mayRepeat && n < sequence.next) sequence.connected()
    sequence.take(n)
    this.#changes.tell()
  }

  /** Resolves when everything has come, or nothing more does. */
  async until(expected: readonly Expected[]): Promise<void> {
    const isThere = () => expected.every(({ topic, count }) => this.#next(topic) >= count)
    for (let before = -1; !isThere() && this.count > before; ) {
      before = this.count
      await this.#changes.until(isThere, patience)
    }
  }

  faults(expected: readonly Expected[]): readonly string[] {
    const missing = expected.filter(({ topic, count }) => this.#next(topic) !== count)
    return [
      ...[...this.#topics.values()].flatMap(({ violations }) => violations.slice(0, 3)),
      ...missing.map(({ topic, count }) => `${topic}: ${this.#next(topic)} of ${count} came in order`),
    ]
  }

  #next(topic: string): number {
    return this.#topics.get(topic)?.next ?? 0
  }
}

const inFlight = 20
const python = '/usr/bin/python3'
const paho = fileURLToPath(new URL('relay_device.py', import.meta.url))
const begin = Date.UTC(2026, 0, 1)
const grants = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]

interface Device {
  readonly name: string
  readonly thing: Thing
  readonly count: number
  /** Publishes as many messages and writes, and resolves when all are acknowledged. */
  run(): Promise<void>
}

interface Exchange {
  readonly server: ServerProcess
  readonly port: number
  /** By a subscriber that misses nothing. */
  readonly seen: Sequences
}

/** @returns what was wrong; empty: nothing */
export async function exchange({ dataDir, messages, isKilled }: ExchangeOptions): Promise<readonly string[]> {
  const port = await freePort()
  const start = () =>
    startServer({
      dataDir,
      args: ['--mqtt-port', String(port)],
      environment: { ...noRateLimits, THINGWIRE_TOPICS: 'house/#', THINGWIRE_LOG_LEVEL: 'warn' },
    })
  let server = await start()
  const faults: string[] = []
  const sequences = new Map<string, Sequences>()
  const clients: MqttClient[] = []
  try {
    const password = await sessionOf(server)
    const subscribe = async (name: string, qos: 1 | 2, isPersistent: boolean) => {
      const seen = new Sequences(isKilled)
      sequences.set(name, seen)
      const options = { username: 'x', password, clientId: name, clean: !isPersistent, reconnectPeriod: 200 }
      const client = await connectAsync(`mqtt://127.0.0.1:${port}`, options)
      client.on('message', (topic, payload) => seen.add(topic, Number(payload)))
      client.on('error', () => {})
      await client.subscribeAsync('house/#', { qos })
      clients.push(client)
    }
    await subscribe('kept-1', 1, true)
    await subscribe('kept-2', 2, true)
    if (!isKilled) {
      await subscribe('clean-1', 1, false)
      await subscribe('clean-2', 2, false)
    }
    const seen = sequences.get('kept-1') as Sequences
    const devices = await devicesOf({ server, port, seen }, messages, isKilled)
    const programs = isKilled ? [] : [mosquittoSub(port, password, messages)]
    const running = Promise.all(devices.map(({ run }) => run()))
    if (isKilled) {
      while (seen.count < messages / 2) await Promise.race([delay(5), running])
      await server.kill()
      server = await start()
    }
    await running
    const expected = devices.map(({ name, count }) => ({ topic: `house/${name}`, count }))
    for (const [name, seen] of sequences) {
      await seen.until(expected)
      faults.push(...seen.faults(expected).map(fault => `${name}: ${fault}`))
    }
    for (const program of programs) faults.push(...(await program(expected)))
    for (const device of devices) faults.push(...(await writeFaults(server, device)))
    return faults
  } finally {
    await Promise.all(clients.map(client => client.endAsync(true)))
    await server.kill()
  }
}

async function sessionOf(server: ServerProcess): Promise<string> {
  const body = { things: [], access: 'read', topics: grants }
  return (await ask<Session>(server, 'POST', '/v2/admin/sessions', body)).sessionToken
}

async function devicesOf(
  exchange: Exchange,
  messages: number,
  isKilled: boolean,
): Promise<readonly Device[]> {
  const { server, port } = exchange
  const make = async (name: string, share: number, run: (device: Omit<Device, 'run'>) => Promise<void>) => {
    const thing = await ask<Thing>(server, 'POST', '/v2/admin/things', { name, topics: grants })
    const device = { name, thing, count: Math.floor(messages * share) }
    return { ...device, run: () => run(device) }
  }
  const byJs = (qos: 1 | 2) => (device: Omit<Device, 'run'>) => runMqttJs(port, device, qos)
  return await Promise.all([
    make('js-1', isKilled ? 0.4 : 0.3, byJs(1)),
    make('js-2', isKilled ? 0.4 : 0.3, byJs(2)),
    make('paho', 0.2, async ({ name, thing, count }) => {
      const topics = [`house/${name}`, `things/${thing.thingId}/write`]
      const address = ['127.0.0.1', `${port}`, thing.thingToken]
      await runProgram(python, [paho, ...address, ...topics, `${count}`, '1', `${begin / 1_000}`])
    }),
    // Does not come back when it is cut off in the middle of its input.
    ...(isKilled ? [] : [make('mosquitto', 0.2, device => runMosquitto(exchange, device))]),
  ])
}

async function runMqttJs(
  port: number,
  { name, thing, count }: Omit<Device, 'run'>,
  qos: 1 | 2,
): Promise<void> {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, {
    ...{ username: thing.thingToken, clientId: name, clean: false, reconnectPeriod: 200 },
  })
  client.on('error', () => {})
  const inHand = new Set<Promise<unknown>>()
  const publish = async (topic: string, payload: string, level: 1 | 2) => {
    while (inHand.size >= inFlight) await Promise.race(inHand)
    const publishing = client
      .publishAsync(topic, payload, { qos: level })
      .finally(() => inHand.delete(publishing))
    inHand.add(publishing)
  }
  for (let n = 0; n < count; n++) {
    await publish(`house/${name}`, String(n), qos)
    await publish(`things/${thing.thingId}/write`, JSON.stringify({ values: [recordOf(n)] }), 1)
  }
  await Promise.all(inHand)
  await client.endAsync()
}

/**
 * One program publishes on one topic: the messages, and then the writes. Its input is held open meanwhile: one whose input ends while
 * it still sends may wait for ever (mosquitto's issue 1448).
 */
async function runMosquitto(
  { server, port, seen }: Exchange,
  { name, thing, count }: Omit<Device, 'run'>,
): Promise<void> {
  const args = ['-h', '127.0.0.1', '-p', `${port}`, '-u', thing.thingToken, '-q', '1', '-l', '-t']
  const numbers = Array.from({ length: count }, (_, n) => n)
  const topic = `house/${name}`
  const input = numbers.map(n => `${n}\n`).join('')
  await runProgram('mosquitto_pub', [...args, topic], { input, done: seen.until([{ topic, count }]) })
  const writes = numbers.map(n => `${JSON.stringify({ values: [recordOf(n)] })}\n`).join('')
  const done = lastStored(server, thing, count - 1)
  await runProgram('mosquitto_pub', [...args, `things/${thing.thingId}/write`], { input: writes, done })
}

async function lastStored({ url }: ServerProcess, { thingToken }: Thing, value: number): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/v2/things/${thingToken}/resources/n?limit=1`)
    const newest = response.ok ? ((await response.json()) as { value: number }[]) : []
    if (newest[0]?.value === value) return
    await delay(100)
  }
}

function recordOf(n: number) {
  return { key: 'n', value: n, datetime: new Date(begin + n * 1_000).toISOString() }
}

/** @returns resolves, when all have come, with what is wrong */
function mosquittoSub(port: number, password: string, messages: number) {
  const args = ['-h', '127.0.0.1', '-p', `${port}`, '-u', 'x', '-P', password, '-q', '1', '-t', 'house/#']
  const running = runProgram('mosquitto_sub', [...args, '-F', '%t %p', '-C', `${messages}`])
  return async (expected: readonly Expected[]) => {
    const seen = new Sequences(false)
    for (const [, topic = '', payload] of (await running).matchAll(/^(\S+) (\d+)$/gm))
      seen.add(topic, Number(payload))
    return seen.faults(expected).map(fault => `mosquitto_sub: ${fault}`)
  }
}

async function writeFaults(
  server: ServerProcess,
  { name, thing, count }: Device,
): Promise<readonly string[]> {
  const values = (await readAll(server, thing, 'n')).reverse()
  const isRight = values.length === count && values.every(({ value }, n) => value === n)
  return isRight ? [] : [`${name}: ${values.length} of ${count} writes are stored, or not in order`]
}

/** Runs a program to its end; its input ends when `done` resolves. @returns its output @throws Error unless it ends with status 0 */
async function runProgram(
  command: string,
  args: readonly string[],
  { input, done = Promise.resolve() }: { readonly input?: string; readonly done?: Promise<unknown> } = {},
): Promise<string> {
  const child = new Child(command, args, { input, isInputOpen: true })
  done.then(
    () => child.process.stdin?.end(),
    () => child.process.kill(),
  )
  const { code, stdout, stderr } = await child.exited
  if (code !== 0) throw new Error(`${command} ended with status ${code}: ${stderr}`)
  return stdout
}
