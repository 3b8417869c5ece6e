import type { ServerProcess } from '../helpers/server-process.ts'
import { eventually } from '../helpers/waiting.ts'
import { Findings } from './findings.ts'
import type { DueMessage, Ledger, ThingLedger } from './ledger.ts'
import { openLink } from './mqtt-link.ts'

export interface RetainedResult {
  readonly findings: Findings
  readonly taken: number
}

/**
 * A new subscriber of everything at a node, when nothing is written any more: it gets what is latest of each resource, with
 * RETAIN, byte by byte what REST gives at every node, and nothing else.
 */
export async function checkRetained(
  ledger: Ledger,
  node: ServerProcess,
  nodes: readonly ServerProcess[],
): Promise<RetainedResult> {
  const findings = new Findings()
  const retained = new Map<string, string>()
  const client = await openLink({
    url: node.mqttUrl,
    password: node.adminKey,
    clientId: `late at ${node.mqttUrl}`,
    onMessage: ({ topic, payload, retain }) => {
      if (!retain) findings.add('retained', `${topic} without RETAIN`)
      if (retained.has(topic)) findings.add('doubled', topic)
      retained.set(topic, payload.toString())
    },
  })
  await client.subscribeTo({ topic: 'things/+/values/#', qos: 1 })
  const latest = new Map(ledger.things.flatMap(thing => [...latestOf(thing)]))
  await eventually(() => retained.size >= latest.size)
  // What comes too much comes before this is answered.
  await client.ping()
  for (const [topic, due] of latest) {
    const text = retained.get(topic)
    if (text === undefined) findings.add('lost', topic)
    else if (!text.startsWith(`{"key":"${due.key}","value":${due.value},`))
      findings.add('altered', `${topic} ${text}`)
  }
  for (const topic of retained.keys()) if (!latest.has(topic)) findings.add('unexpected', topic)
  for (const [topic, text] of retained) {
    const [, thingId = '', , key] = topic.split('/')
    const { thingToken } = ledger.find(thingId)?.thing ?? {}
    for (const { url } of nodes) {
      const response = await fetch(`${url}/v2/things/${thingToken}/resources/${key}`)
      const answer = await response.text()
      if (answer !== `[${text}]`) findings.add('altered', `${text}, where REST gives ${answer}`)
    }
  }
  await client.disconnect()
  return { findings, taken: retained.size }
}

/** What is latest by datetime of each resource, by the topic of its retained message. */
function latestOf({ thing, due, silent }: ThingLedger): Map<string, DueMessage> {
  const latest = new Map<string, DueMessage>()
  const kept = [...due.ordinary, ...due.$settings, ...due.$geo, ...silent].filter(({ isKept }) => isKept)
  for (const message of kept) {
    const topic = `things/${thing.thingId}/values/${message.key}`
    const { datetime = '' } = latest.get(topic) ?? {}
    if ((message.datetime ?? '') >= datetime) latest.set(topic, message)
  }
  return latest
}
