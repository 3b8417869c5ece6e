import { fileURLToPath } from 'node:url'
import { newerPaho } from '../helpers/newer-paho.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import {
  Inbox,
  type LiveClient,
  type Message,
  type Outgoing,
  type Publish,
  sessionExpiry,
  type Version,
} from './client.ts'
import { Program } from './program.ts'

/** Debian's own interpreter, the only one that finds Debian's modules. */
const python = { command: '/usr/bin/python3', debianPackage: 'python3-paho-mqtt' }
const script = fileURLToPath(new URL('paho_client.py', import.meta.url))

type Transport = 'tcp' | 'websockets'

interface Running {
  readonly server: ServerProcess
  readonly transport: Transport
  /** Default: 4. */
  readonly version?: Version | undefined
}

/** Runs paho_client.py: Debian's paho in 3.1.1, paho 2.1, which alone shows the acks of version 5, in that. @param options of it */
async function run(
  { server, transport, version = 4 }: Running,
  options: object,
  input = '',
): Promise<Program> {
  const { hostname, port } = new URL(transport === 'tcp' ? server.mqttUrl : server.webSocketUrl)
  const own = version === 5 && { version, path: await newerPaho(), sessionExpiry }
  const given = { host: hostname, port: Number(port), transport, ...own, ...options }
  return new Program(python, [script, JSON.stringify(given)], input)
}

/** As paho_client.py reads them. */
function inputOf(messages: readonly (Omit<Outgoing, 'qos'> & { readonly qos: number })[]): string {
  const hex = (payload: Outgoing['payload']) => Buffer.from(payload).toString('hex')
  return JSON.stringify(messages.map(each => ({ retain: false, ...each, payload: hex(each.payload) })))
}

export interface PahoDevice extends Running {
  readonly qos: number
  readonly topic: string
  readonly username?: string
  readonly will?: string
  /** Seconds. */
  readonly keepAlive?: number
}

/**
 * A device that writes the bodies, says what is refused, and `done` when all are acknowledged, and ends; with a will it stays
 * until it is killed.
 */
export async function pahoDevice(
  { qos, topic, username, will, keepAlive, ...running }: PahoDevice,
  bodies: readonly string[],
): Promise<Program> {
  const options = { username, keepAlive, ...(will !== undefined && { will: { topic, payload: will, qos } }) }
  const messages = bodies.map(payload => ({ topic, payload, qos }))
  return (await run(running, options, inputOf(messages))).closeInput()
}

export const publishByPaho: Publish = async (server, username, messages, version) => {
  const program = await run({ server, transport: 'tcp', version }, { username }, inputOf(messages))
  const { code, output } = await program.closeInput().exited
  if (code !== 0 || output !== 'done\n') throw new Error(`paho ended with status ${code}: ${output}`)
}

export function paho(transport: Transport, version: Version = 4): LiveClient {
  return {
    name: `paho over ${transport}${version === 5 ? ' in version 5' : ''}`,
    subscribe: async (server, { leavesAfter: _, ...subscribing }) => {
      const program = await run({ server, transport, version }, subscribing)
      const inbox = new Inbox()
      program.onLine(line => {
        if (line.startsWith('{')) inbox.add(JSON.parse(line) as Message)
      })
      const [granted = ''] = await program.said(/^subscribed (.*)\n/m)
      return {
        inbox,
        granted: JSON.parse(granted) as number[],
        leave: async () => void (await program.closeInput().exited),
        kill: async () => void (await program.end('SIGKILL')),
      }
    },
  }
}
