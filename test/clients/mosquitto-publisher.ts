import type { ClientDriver, Outgoing } from './client-driver.ts'
import { Program } from './program.ts'

const installed = { command: 'mosquitto_pub', debianPackage: 'mosquitto-clients' }

/** One mosquitto_pub for each run of messages that differ only in their text, which are lines of its input. */
export const mosquittoPub: ClientDriver['publish'] = async ({ mqttUrl }, token, messages) => {
  const { hostname, port } = new URL(mqttUrl)
  for (const [first, ...others] of runsOf(messages)) {
    const { topic, payload, qos, retain } = first
    const args = ['-h', hostname, '-p', port, '-u', token, '-q', String(qos), '-t', topic]
    if (retain) args.push('-r')
    // All of its input is one message with -s, which may not be empty.
    args.push(others.length > 0 ? '-l' : payload.length > 0 ? '-s' : '-n')
    const lines = () => [first, ...others].map(({ payload }) => `${payload}\n`).join('')
    const input = others.length > 0 ? lines() : payload
    const { code, output } = await new Program(installed, args, input).closeInput().ended
    if (code !== 0) throw new Error(`mosquitto_pub ended with status ${code}: ${output}`)
  }
}

type Run = [Outgoing, ...Outgoing[]]

function runsOf(messages: readonly Outgoing[]): readonly Run[] {
  const runs: Run[] = []
  for (const message of messages) {
    const run = runs.at(-1)
    if (run && isLine(run[0]) && isLine(message) && isAlike(run[0], message)) run.push(message)
    else runs.push([message])
  }
  return runs
}

function isLine({ payload }: Outgoing): boolean {
  return typeof payload === 'string' && payload !== ''
}

function isAlike(one: Outgoing, other: Outgoing): boolean {
  return one.topic === other.topic && one.qos === other.qos && one.retain === other.retain
}
