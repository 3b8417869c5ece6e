import type { DrivenClient, DrivenSubscribing } from './client-driver.ts'
import { Inbox, type Message } from './inbox.ts'
import { Program } from './program.ts'

/** By lines, so that what it says is heard when it says it. */
const installed = { command: 'stdbuf', debianPackage: 'coreutils mosquitto-clients' }
/** As `-F` below has it; what else it says is of `-d`. */
const messageLine = /^([01]) ([012]) (\S+) (.*)$/

/** mosquitto_sub with `-V`, in a persistent session with `-c -i`. */
export function mosquittoSub(version: 'mqttv31' | 'mqttv311'): DrivenClient {
  return {
    name: `mosquitto_sub -V ${version}`,
    subscribe: async ({ mqttUrl }, subscribing) => {
      const { filters, qos, username, password, clientId, clean = false } = subscribing
      const { leavesAfter, encoding = 'utf8' } = subscribing
      const { hostname, port } = new URL(mqttUrl)
      const program = new Program(installed, [
        ...['-oL', 'mosquitto_sub', '-h', hostname, '-p', port, '-V', version, '-q', String(qos), '-d'],
        ...['-F', `%r %q %t ${encoding === 'hex' ? '%x' : '%p'}`],
        ...filters.flatMap(filter => ['-t', filter]),
        ...(username === undefined ? [] : ['-u', username]),
        ...(password === undefined ? [] : ['-P', password]),
        ...(clientId === undefined ? [] : ['-i', clientId, ...(clean ? [] : ['-c'])]),
        ...(leavesAfter === undefined ? [] : ['-C', String(leavesAfter)]),
        ...willArguments(subscribing),
      ])
      const inbox = new Inbox()
      program.onLine(line => {
        const message = parseLine(line)
        if (message) inbox.add(message)
      })
      const [granted = ''] = await program.said(/^Subscribed \(mid: \d+\): (.*)\n/m)
      return {
        inbox,
        granted: granted.split(', ').map(Number),
        kill: () => program.kill(),
        leave: async () => {
          // Its handler of signals may hang while it receives messages.
          if (leavesAfter === undefined) program.terminate()
          await program.ended
        },
      }
    },
  }
}

function willArguments({ will }: DrivenSubscribing): string[] {
  if (!will) return []
  const { topic, payload, qos, retain } = will
  const required = ['--will-topic', topic, '--will-payload', payload, '--will-qos', String(qos)]
  return retain ? [...required, '--will-retain'] : required
}

function parseLine(line: string): Message | undefined {
  const [, retain, qos, topic = '', payload = ''] = messageLine.exec(line) ?? []
  return qos === undefined ? undefined : { topic, payload, qos: Number(qos), retain: retain === '1' }
}
