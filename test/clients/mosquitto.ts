import {
  Inbox,
  type LiveClient,
  type Message,
  type Outgoing,
  type Publish,
  type Subscribing,
  type Version,
} from './client.ts'
import { Program } from './program.ts'

/** By lines, so that what it says is heard when it says it. */
const installedSub = { command: 'stdbuf', debianPackage: 'coreutils mosquitto-clients' }
/** As `-F` below has it; what else it says is of `-d`. */
const messageLine = /^([01]) ([012]) (\S+) (.*)$/

/** As `-V` has it. */
export const mosquittoVersion = (version: Version) => (version === 5 ? 'mqttv5' : 'mqttv311')

/** mosquitto_sub with `-V`, in a persistent session with `-c -i`, which in version 5 asks for a session without an end. */
export function mosquittoSub(version: 'mqttv31' | 'mqttv311' | 'mqttv5'): LiveClient {
  return {
    name: `mosquitto_sub -V ${version}`,
    subscribe: async ({ mqttUrl }, subscribing) => {
      const { filters, qos, username, password, clientId, clean = false } = subscribing
      const { leavesAfter, encoding = 'utf8' } = subscribing
      const { hostname, port } = new URL(mqttUrl)
      const program = new Program(installedSub, [
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
        kill: async () => void (await program.end('SIGKILL')),
        leave: async () => {
          // Its handler of signals may hang while it receives messages.
          if (leavesAfter === undefined) program.process.kill('SIGTERM')
          await program.exited
        },
      }
    },
  }
}

function willArguments({ will }: Subscribing): string[] {
  if (!will) return []
  const { topic, payload, qos, retain } = will
  const required = ['--will-topic', topic, '--will-payload', payload, '--will-qos', String(qos)]
  return retain ? [...required, '--will-retain'] : required
}

function parseLine(line: string): Message | undefined {
  const [, retain, qos, topic = '', payload = ''] = messageLine.exec(line) ?? []
  return qos === undefined ? undefined : { topic, payload, qos: Number(qos), retain: retain === '1' }
}

export const installedPub = { command: 'mosquitto_pub', debianPackage: 'mosquitto-clients' }

/** One mosquitto_pub for each run of messages that differ only in their text, which are lines of its input. */
export const mosquittoPub: Publish = async ({ mqttUrl }, token, messages, version = 4) => {
  const { hostname, port } = new URL(mqttUrl)
  for (const [first, ...others] of runsOf(messages)) {
    const { topic, payload, qos, retain } = first
    const args = ['-h', hostname, '-p', port, '-V', mosquittoVersion(version), '-u', token]
    args.push('-q', String(qos), '-t', topic)
    if (retain) args.push('-r')
    // All of its input is one message with -s, which may not be empty.
    args.push(others.length > 0 ? '-l' : payload.length > 0 ? '-s' : '-n')
    const lines = () => [first, ...others].map(({ payload }) => `${payload}\n`).join('')
    const input = others.length > 0 ? lines() : payload
    const { code, output } = await new Program(installedPub, args, input).closeInput().exited
    // Of a message that is refused in its ack it says so, and ends with status 0.
    if (code !== 0 || output !== '') throw new Error(`mosquitto_pub ended with status ${code}: ${output}`)
  }
}

type Run = [Outgoing, ...Outgoing[]]

function runsOf(messages: readonly Outgoing[]): readonly Run[] {
  const runs: Run[] = []
  let last: string | undefined
  for (const message of messages) {
    const { topic, payload, qos, retain } = message
    const isLine = typeof payload === 'string' && payload !== ''
    const kind = isLine ? JSON.stringify([topic, qos, retain]) : undefined
    if (kind !== undefined && kind === last) runs.at(-1)?.push(message)
    else runs.push([message])
    last = kind
  }
  return runs
}
