import { fileURLToPath } from 'node:url'
import type { DrivenClient } from './client-driver.ts'
import { Inbox, type Message } from './inbox.ts'
import { Program } from './program.ts'

/** Debian's own interpreter, the only one that finds Debian's modules. */
export const python = { command: '/usr/bin/python3', debianPackage: 'python3-paho-mqtt' }

const script = fileURLToPath(new URL('paho_subscriber.py', import.meta.url))

export function paho(transport: 'tcp' | 'websockets'): DrivenClient {
  return {
    name: `paho over ${transport}`,
    subscribe: async (server, { leavesAfter, ...subscribing }) => {
      const { hostname, port } = new URL(transport === 'tcp' ? server.mqttUrl : server.webSocketUrl)
      const options = { host: hostname, port: Number(port), transport, ...subscribing }
      const program = new Program(python, [script, JSON.stringify(options)])
      const inbox = new Inbox()
      program.onLine(line => {
        if (line.startsWith('{')) inbox.add(JSON.parse(line) as Message)
      })
      const [granted = ''] = await program.said(/^subscribed (.*)\n/m)
      return {
        inbox,
        granted: JSON.parse(granted) as number[],
        leave: async () => void (await program.closeInput().ended),
        kill: () => program.kill(),
      }
    },
  }
}
