import { fileURLToPath } from 'node:url'
import type { ServerProcess } from '../helpers/server-process.ts'
import { Inbox, type LiveClient, type Message, type Outgoing, type Publish } from './client.ts'
import { Program } from './program.ts'

/** Debian's own interpreter, the only one that finds Debian's modules. */
const python = { command: '/usr/bin/python3', debianPackage: 'python3-paho-mqtt' }
const script = fileURLToPath(new URL('paho_client.py', import.meta.url))

type Transport = 'tcp' | 'websockets'

/** Runs paho_client.py. @param options of it, beside the address */
function run(server: ServerProcess, transport: Transport, options: object, input = ''): Program {
  const { hostname, port } = new URL(transport === 'tcp' ? server.mqttUrl : server.webSocketUrl)
  return new Program(
    python,
    [script, JSON.stringify({ host: hostname, port: Number(port), transport, ...options })],
    input,
  )
}

/** As paho_client.py reads them. */
function inputOf(messages: readonly (Omit<Outgoing, 'qos'> & { readonly qos: number })[]): string {
  const hex = (payload: Outgoing['payload']) => Buffer.from(payload).toString('hex')
  return JSON.stringify(messages.map(each => ({ retain: false, ...each, payload: hex(each.payload) })))
}

export interface PahoDevice {
  readonly server: ServerProcess
  readonly transport: Transport
  readonly qos: number
  readonly topic: string
  readonly username?: string
  readonly will?: string
  /** Seconds. */
  readonly keepAlive?: number
}

/** A device that writes the bodies, says `done` when all are acknowledged, and ends; with a will it stays until it is killed. */
export function pahoDevice(
  { server, transport, qos, topic, username, will, keepAlive }: PahoDevice,
  bodies: readonly string[],
): Program {
  const options = { username, keepAlive, ...(will !== undefined && { will: { topic, payload: will, qos } }) }
  const messages = bodies.map(payload => ({ topic, payload, qos }))
  return run(server, transport, options, inputOf(messages)).closeInput()
}

export const publishByPaho: Publish = async (server, username, messages) => {
  const { code, output } = await run(server, 'tcp', { username }, inputOf(messages)).closeInput().exited
  if (code !== 0) throw new Error(`paho ended with status ${code}: ${output}`)
}

export function paho(transport: Transport): LiveClient {
  return {
    name: `paho over ${transport}`,
    subscribe: async (server, { leavesAfter: _, ...subscribing }) => {
      const program = run(server, transport, subscribing)
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
