import { fileURLToPath } from 'node:url'
import type { ServerProcess } from '../helpers/server-process.ts'
import { Program } from './program.ts'

const script = fileURLToPath(new URL('paho_client.py', import.meta.url))
/** Debian's own interpreter, the only one that finds Debian's modules. */
const python = { command: '/usr/bin/python3', debianPackage: 'python3-paho-mqtt' }

export interface PahoDevice {
  readonly server: ServerProcess
  readonly transport: 'tcp' | 'websockets'
  readonly qos: number
  readonly topic: string
  readonly username?: string
  readonly will?: string
  /** Seconds. */
  readonly keepAlive?: number
}

/** A device that writes the bodies, and ends when all are acknowledged. */
export function pahoDevice(
  { server, transport, qos, topic, username = '', will = '', keepAlive = 60 }: PahoDevice,
  bodies: readonly string[],
): Program {
  const { hostname, port } = new URL(transport === 'tcp' ? server.mqttUrl : server.webSocketUrl)
  const args = [script, hostname, port, transport, String(qos), topic, username, will, String(keepAlive)]
  return new Program(python, args, `${bodies.join('\n')}\n`).closeInput()
}
