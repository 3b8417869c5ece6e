import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { parser } from 'mqtt-packet'
import { openMqtt } from '../helpers/mqtt-client.ts'
import { Random } from '../helpers/random.ts'
import { RawConnection } from '../helpers/raw-connection.ts'
import type { HostileServer } from './hostile-server.ts'
import { readAnswers } from './http/answers.ts'
import type { Target } from './http/case.ts'
import { mutatedRequest } from './http/mutated-request.ts'
import { refusalProblems } from './http/refusal.ts'
import { mutatedConversation } from './mqtt/mutated-conversation.ts'
import { fill } from './mqtt/play.ts'

interface MutationSetup {
  readonly hostile: HostileServer
  /** The same seed gives the same inputs in the same order. */
  readonly seed: number
  readonly seconds: number
  readonly onProgress: () => void
}

/** Inputs a second at each door: as many as leave the machine time for the server and its healthy clients. */
const rate = 150
const connections = 4
/** Milliseconds from the end of an input to the end of its connection. */
const patience = 15_000
const keptFindings = 50
/** One of so many MQTT inputs goes over WebSocket. */
const webSocketShare = 4

/** Sends good requests that were spoiled at random, and looks at the answers. */
export function mutateHttp(setup: MutationSetup) {
  const { server, mutated } = setup.hostile
  return sendAll('HTTP', setup, place => {
    const bytes = mutatedRequest(setup.seed, place, mutated)
    return { bytes, problem: request(server.url, bytes, mutated) }
  })
}

/** Sends what good MQTT clients send, spoiled at random. */
export function mutateMqtt(setup: MutationSetup) {
  const { server, mutated } = setup.hostile
  return sendAll('MQTT', setup, place => {
    const packets = mutatedConversation(new Random(setup.seed, place))
    const pieces = packets.map(packet => fill(packet, mutated))
    const url = place % webSocketShare === 0 ? server.webSocketUrl : server.mqttUrl
    return { bytes: Buffer.concat(pieces), problem: converse(url, pieces) }
  })
}

/** @param send sends the input of a place on a connection of its own @returns how many were sent, and what came of them */
async function sendAll(
  door: string,
  { hostile, seed, seconds, onProgress }: MutationSetup,
  send: (place: number) => { readonly bytes: Buffer; readonly problem: Promise<string | undefined> },
) {
  const { process } = hostile.server
  const started = performance.now()
  const findings: string[] = []
  let sent = 0
  const sender = async () => {
    while (performance.now() < started + seconds * 1_000 && process.exitCode === null) {
      const place = sent++
      await delay(Math.max(0, started + (place / rate) * 1_000 - performance.now()))
      const { bytes, problem: pending } = send(place)
      const problem = await pending.catch((error: Error) => error.message)
      if (problem !== undefined && findings.length < keptFindings) {
        const shown = bytes.toString('hex').slice(0, 4_000)
        findings.push(`${door} seed ${seed} input ${place}: ${problem}; sent ${shown}`)
      }
      onProgress()
    }
  }
  await Promise.all(Array.from({ length: connections }, sender))
  if (process.exitCode !== null) findings.push(`the server ended with ${process.exitCode}`)
  return { sent, findings }
}

async function request(url: string, input: Buffer, target: Target): Promise<string | undefined> {
  const connection = await RawConnection.open(url, patience)
  try {
    connection.send(input)
    connection.socket.end()
    const { answers, rest } = readAnswers(await connection.closed())
    const problems = answers.flatMap(answer => refusalProblems(answer, input, target))
    const isUpgraded = answers.at(-1)?.status === 101
    if (rest.length > 0 && !isUpgraded) problems.push(`${rest.length} bytes of no answer`)
    if (answers.length === 0 && isRequest(input)) problems.push('no answer')
    return problems.length > 0 ? problems.join('; ') : undefined
  } catch (error) {
    const { text } = connection
    // A request may have become one for a live stream, which does not end; in HTTP before 1.1 it has no chunks.
    if (/^HTTP\/1\.1 200 .*\r\nx-accel-buffering: no\r\n/is.test(text)) return undefined
    return `${(error as Error).message}; received ${JSON.stringify(text.slice(0, 500))}`
  } finally {
    connection.socket.destroy()
  }
}

/** Whether an answer is due: to anything but empty lines, and a CONNECT, which is hung up on. */
function isRequest(input: Buffer): boolean {
  const text = input.toString('latin1')
  return !/^[\r\n]*$/.test(text) && !/^[\r\n]*CONNECT /.test(text)
}

async function converse(url: string, pieces: readonly Buffer[]): Promise<string | undefined> {
  const client = await openMqtt({ url, deadline: patience, acknowledges: false })
  const received: Buffer[] = []
  client.stream.on('data', (bytes: Buffer) => received.push(bytes))
  for (const piece of pieces) {
    if (client.stream.destroyed || client.stream.writableEnded) break
    client.sendBytes(piece)
    await nextTurn()
  }
  if (!client.stream.destroyed) client.stream.end()
  await client.untilClosed().finally(() => client.destroy())
  return packetProblem(Buffer.concat(received))
}

/** What a server may send. */
const fromServer = /^(?:connack|publish|puback|pubrec|pubrel|pubcomp|suback|unsuback|pingresp)$/

function packetProblem(bytes: Buffer): string | undefined {
  let problem: string | undefined
  const packets = parser({ protocolVersion: 4 })
  packets.on('error', (error: Error) => {
    problem ??= `an answer is no MQTT: ${error.message}`
  })
  packets.on('packet', ({ cmd }) => {
    if (!fromServer.test(cmd)) problem ??= `an answer is a ${cmd}`
  })
  packets.parse(bytes)
  return problem
}
