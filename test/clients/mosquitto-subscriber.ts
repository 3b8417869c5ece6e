import { Inbox, type Message } from './inbox.ts'
import type { LiveClient } from './live-client.ts'
import { Program } from './program.ts'

/** By lines, so that what it says is heard when it says it. */
const installed = { command: 'stdbuf', debianPackage: 'coreutils mosquitto-clients' }
/** As `-F` below has it; what else it says is of `-d`. */
const messageLine = /^([01]) ([012]) (\S+) (.*)$/

/** mosquitto_sub with `-V`, in a persistent session with `-c -i`. */
export function mosquittoSub(version: 'mqttv31' | 'mqttv311'): LiveClient {
  return {
    name: `mosquitto_sub -V ${version}`,
    subscribe: async ({ mqttUrl }, { filters, qos, username, password, clientId, leavesAfter }) => {
      const { hostname, port } = new URL(mqttUrl)
      const program = new Program(installed, [
        ...['-oL', 'mosquitto_sub', '-h', hostname, '-p', port, '-V', version, '-q', String(qos), '-d'],
        ...['-F', '%r %q %t %p'],
        ...filters.flatMap(filter => ['-t', filter]),
        ...(username === undefined ? [] : ['-u', username]),
        ...(password === undefined ? [] : ['-P', password]),
        ...(clientId === undefined ? [] : ['-c', '-i', clientId]),
        ...(leavesAfter === undefined ? [] : ['-C', String(leavesAfter)]),
      ])
      const inbox = new Inbox()
      program.onLine(line => {
        const message = parseLine(line)
        if (message) inbox.add(message)
      })
      await program.said(/^Subscribed/m)
      return {
        inbox,
        leave: async () => {
          // Its handler of signals may hang while it receives messages.
          if (leavesAfter === undefined) program.terminate()
          await program.ended
        },
      }
    },
  }
}

function parseLine(line: string): Message | undefined {
  const [, retain, qos, topic = '', payload = ''] = messageLine.exec(line) ?? []
  return qos === undefined ? undefined : { topic, payload, qos: Number(qos), retain: retain === '1' }
}
