import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { generate } from 'mqtt-packet'
import type { CrowdMessage, CrowdSetup, CrowdTask } from './crowd.ts'
import { type LorisKind, type LorisTarget, lorisKinds, openLoris } from './loris.ts'

/** The load generator of `bench:crowd`: bare sockets, packets made beforehand. */

const setup = JSON.parse(process.argv[2] ?? '{}') as CrowdSetup
const mqtt = endpointOf(setup.mqttUrl)
const idle = new Set<Socket>()
const disconnect = generate({ cmd: 'disconnect' })
/** Milliseconds within which a connect is to be answered. */
const connectDeadline = 10_000

process.on('message', (task: CrowdTask) => {
  run(task).then(done => tell({ done }))
})
process.once('disconnect', () => process.exit())

function run(task: CrowdTask) {
  if (task.name === 'idle') return openIdle(task.connections, task.rate)
  if (task.name === 'connects') return connectAndLeave(task.rate, task.seconds)
  return runLoris(task.count, task.deadlines)
}

async function openIdle(connections: number, rate: number) {
  const opened: Promise<boolean>[] = []
  await paced(connections, rate, place => void opened.push(connectIdle(place)))
  await Promise.all(opened)
  return { open: idle.size }
}

/** Every other one is anonymous, and shows a token by what it subscribes to: without, it would be closed after a minute. */
function connectIdle(place: number): Promise<boolean> {
  const token = setup.thingTokens[place % setup.thingTokens.length] ?? ''
  const isAnonymous = place % 2 === 1
  const hello = [connectPacket(`idle-${place}`, isAnonymous ? undefined : token)]
  const messageId = 1
  const subscriptions = [{ topic: `things/${token}/errors`, qos: 0 as const }]
  if (isAnonymous) hello.push(generate({ cmd: 'subscribe', messageId, subscriptions }))
  // CONNACK, then SUBACK.
  const answers = isAnonymous ? 9 : 4
  return new Promise(resolve => {
    const socket = connect(mqtt)
    let received = 0
    socket.on('connect', () => socket.write(Buffer.concat(hello)))
    socket.on('data', bytes => {
      received += bytes.length
      if (received < answers) return
      idle.add(socket)
      resolve(true)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      idle.delete(socket)
      resolve(false)
    })
  })
}

async function connectAndLeave(rate: number, seconds: number) {
  let connected = 0
  const failed: Record<string, number> = {}
  const ends: Promise<void>[] = []
  await paced(rate * seconds, rate, place => {
    const token = setup.thingTokens[place % setup.thingTokens.length]
    ends.push(
      connectOnce(connectPacket(`visitor-${place}`, token)).then(answer => {
        if (answer === 'CONNACK 0') connected++
        else failed[answer] = (failed[answer] ?? 0) + 1
      }),
    )
  })
  await Promise.all(ends)
  return { connected, failed }
}

/** CONNECT, CONNACK, DISCONNECT. @returns what the server answered */
function connectOnce(packet: Buffer): Promise<string> {
  return new Promise(resolve => {
    const socket = connect(mqtt)
    let answer = 'nothing'
    socket.setTimeout(connectDeadline, () => {
      answer = `nothing within ${connectDeadline / 1_000} s`
      socket.destroy()
    })
    socket.on('connect', () => socket.write(packet))
    socket.on('data', bytes => {
      answer = `CONNACK ${bytes[3]}`
      socket.end(disconnect)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (answer === 'nothing') answer = error.code ?? error.message
    })
    socket.on('close', () => resolve(answer))
  })
}

async function runLoris(count: number, deadlines: Readonly<Record<LorisKind, number>>) {
  const target: LorisTarget = { ...setup, thingToken: setup.thingTokens[0] ?? '' }
  const begin = performance.now()
  const kinds = lorisKinds.map(kind => {
    const lives = Array.from({ length: count }, () => openLoris(kind, target, deadlines[kind] * 1_000))
    return { kind, lives }
  })
  const ticker = setInterval(() => {
    const seconds = ((performance.now() - begin) / 1_000).toFixed(0)
    const open = kinds.map(({ kind, lives }) => `${kind} ${lives.filter(life => life.isOpen).length}`)
    tell({ progress: `${seconds} s, still open: ${open.join(', ')}` })
  }, 10_000)
  const reports = await Promise.all(
    kinds.map(async ({ kind, lives }) => {
      const ended = (await Promise.all(lives.map(life => life.ended))).sort((a, b) => a - b)
      const gone = ended.filter(seconds => seconds !== Number.POSITIVE_INFINITY)
      return {
        kind,
        gone: gone.length,
        left: count - gone.length,
        first: gone[0] ?? 0,
        last: gone.at(-1) ?? 0,
      }
    }),
  )
  clearInterval(ticker)
  return reports
}

/** Calls `act` so many times, evenly. */
async function paced(times: number, rate: number, act: (place: number) => void): Promise<void> {
  const begin = performance.now()
  for (let place = 0; place < times; place++) {
    const wait = begin + (place * 1_000) / rate - performance.now()
    if (wait > 1) await delay(wait)
    act(place)
    if (place > 0 && place % Math.ceil(times / 6) === 0) tell({ progress: `${place} of ${times}` })
  }
}

function connectPacket(clientId: string, token: string | undefined): Buffer {
  const credential = token === undefined ? {} : { username: 'device', password: Buffer.from(token) }
  return generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clientId,
    clean: true,
    keepalive: 0,
    ...credential,
  })
}

function endpointOf(url: string) {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port), noDelay: true }
}

function tell(message: CrowdMessage): void {
  process.send?.(message)
}
