import { fileURLToPath } from 'node:url'
import { Inbox, type Message } from './inbox.ts'
import type { LiveClient } from './live-client.ts'
import { Program } from './program.ts'

/** Debian's own interpreter, the only one that finds Debian's modules. */
export const python = { command: '/usr/bin/python3', debianPackage: 'python3-paho-mqtt' }

const script = fileURLToPath(new URL('paho_subscriber.py', import.meta.url))

export function paho(transport: 'tcp' | 'websockets'): LiveClient {
  return {
    name: `paho over ${transport}`,
    subscribe: async (server, { filters, qos, username = '', password = '', clientId = '' }) => {
      const { hostname, port } = new URL(transport === 'tcp' ? server.mqttUrl : server.webSocketUrl)
      const credentials = [username, password, clientId]
      const program = new Program(python, [
        ...[script, hostname, port, transport, String(qos), ...credentials, ...filters],
      ])
      const inbox = new Inbox()
      program.onLine(line => {
        if (line.startsWith('{')) inbox.add(JSON.parse(line) as Message)
      })
      await program.said(/^subscribed$/m)
      return { inbox, leave: async () => void (await program.closeInput().ended) }
    },
  }
}
