import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { parser } from 'mqtt-packet'
import { ask, type Thing } from '../helpers/http-client.ts'
import { openMqtt } from '../helpers/mqtt-client.ts'
import { Random } from '../helpers/random.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { HealthyPair } from './mqtt/healthy-pair.ts'
import { mutatedConversation } from './mqtt/mutated-conversation.ts'
import { fill, type Target } from './mqtt/play.ts'
import { topicGrants } from './mqtt/topic-grants.ts'

export interface MqttMutationSetup {
  readonly server: ServerProcess
  /** Things whose valid tokens are in what is sent, with topics of `topicGrants`; at least one. */
  readonly things: readonly Thing[]
  /** The same one gives the same inputs in the same order. */
  readonly seed: number
  readonly seconds: number
  /** Longest time that a healthy client may wait, milliseconds. Default 1,000. */
  readonly longestWait?: number
  /** Told of how many inputs were sent. */
  readonly onProgress?: (sent: number) => void
}

export interface MqttMutationResult {
  readonly sent: number
  readonly findings: readonly string[]
}

/** Inputs a second: as many as leave the machine time for the server and its healthy clients. */
const rate = 150
const connections = 4
/** Milliseconds from the end of an input to that of its connection. */
const patience = 15_000
const keptFindings = 50
/** One input in so many goes over WebSocket. */
const webSocketShare = 4

const fromServer: ReadonlySet<string> = new Set([
  'connack',
  'publish',
  'puback',
  'pubrec',
  'pubrel',
  'pubcomp',
  'suback',
  'unsuback',
  'pingresp',
])

/**
 * Sends what good clients send, spoiled at random, each on a connection of its own, beside a publisher and a subscriber
 * who do nothing wrong and must lose nothing.
 */
export async function mutateMqtt(setup: MqttMutationSetup): Promise<MqttMutationResult> {
  const { server, things, seed, seconds, longestWait = 1_000, onProgress } = setup
  const [thing, other = thing] = things
  if (!thing || !other) throw new Error('no thing was given')
  const pair = await HealthyPair.start(
    server,
    await ask<Thing>(server, 'POST', '/v2/admin/things', { topics: topicGrants }),
  )
  const started = performance.now()
  const findings: string[] = []
  const find = (finding: string) => {
    if (findings.length < keptFindings) findings.push(finding)
  }
  let sent = 0
  const sender = async () => {
    while (performance.now() < started + seconds * 1_000 && server.process.exitCode === null) {
      const place = sent++
      await delay(Math.max(0, started + (place / rate) * 1_000 - performance.now()))
      const pieces = mutatedConversation(new Random(seed, place))
      const url = place % webSocketShare === 0 ? server.webSocketUrl : server.mqttUrl
      const problem = await send(url, pieces, { thing, other })
      if (problem !== undefined) {
        const bytes = Buffer.concat(pieces).toString('hex').slice(0, 4_000)
        find(`MQTT seed ${seed} input ${place}: ${problem}; sent ${bytes}`)
      }
      onProgress?.(sent)
    }
  }
  await Promise.all(Array.from({ length: connections }, sender))
  for (const finding of await pairFindings(pair, longestWait)) find(finding)
  if (server.process.exitCode !== null) find(`the server ended with ${server.process.exitCode}`)
  return { sent, findings }
}

/** @returns what went wrong */
async function send(url: string, pieces: readonly Buffer[], target: Target): Promise<string | undefined> {
  try {
    const client = await openMqtt({ url, deadline: patience, acknowledges: false })
    const received: Buffer[] = []
    client.stream.on('data', (bytes: Buffer) => received.push(bytes))
    for (const piece of pieces) {
      if (client.stream.destroyed || client.stream.writableEnded) break
      client.sendBytes(fill(piece, target))
      await nextTurn()
    }
    if (!client.stream.destroyed) client.stream.end()
    await client.untilClosed().finally(() => client.destroy())
    return answerProblem(Buffer.concat(received))
  } catch (error) {
    return (error as Error).message
  }
}

function answerProblem(bytes: Buffer): string | undefined {
  let problem: string | undefined
  const answers = parser({ protocolVersion: 4 })
  answers.on('error', (error: Error) => {
    problem ??= `an answer is no MQTT: ${error.message}`
  })
  answers.on('packet', ({ cmd }) => {
    if (!fromServer.has(cmd)) problem ??= `an answer is a ${cmd}`
  })
  answers.parse(bytes)
  return problem
}

async function pairFindings(pair: HealthyPair, longest: number): Promise<string[]> {
  try {
    const { acked, received, longestWait } = await pair.stop()
    const findings =
      received.join() === acked.join() ? [] : ['a healthy subscriber did not get what was acked']
    if (longestWait > longest) findings.push(`a healthy client waited ${Math.round(longestWait)} ms`)
    return findings
  } catch (error) {
    return [`a healthy client: ${(error as Error).message}`]
  }
}
