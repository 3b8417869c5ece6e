import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { answerCommands } from '../load/commands.ts'
import { connectPacket, disconnectPacket, subscribePacket } from '../load/mqtt-packets.ts'
import type { CrowdSetup } from './crowd.ts'
import { type LorisKind, type LorisTarget, lorisKinds, openLoris } from './loris.ts'

/** The load generator of `bench:crowd`: bare sockets, packets made beforehand. */

let setup: CrowdSetup
const idle = new Set<Socket>()
/** Milliseconds within which a connect is to be answered. */
const connectDeadline = 10_000

answerCommands({
  setUp: (given: CrowdSetup) => {
    setup = given
  },
  openIdle,
  connectAndLeave,
  runLoris,
  stillOpen: () => idle.size,
})

async function openIdle({ connections, rate }: { connections: number; rate: number }) {
  const opened: Promise<boolean>[] = []
  await paced(connections, rate, place => void opened.push(connectIdle(place)))
  await Promise.all(opened)
  return { open: idle.size }
}

/** Every other one is anonymous, and shows a token by what it subscribes to: without, it would be closed after a minute. */
function connectIdle(place: number): Promise<boolean> {
  const token = setup.thingTokens[place % setup.thingTokens.length] ?? ''
  const isAnonymous = place % 2 === 1
  const clientId = `idle-${place}`
  const hello = isAnonymous
    ? [connectPacket({ clientId }), subscribePacket(`things/${token}/errors`, 0)]
    : [connectPacket({ clientId, username: 'device', password: token })]
  // CONNACK, then SUBACK.
  const answers = isAnonymous ? 9 : 4
  return new Promise(resolve => {
    const socket = connect(endpoint())
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

async function connectAndLeave({ rate, seconds }: { rate: number; seconds: number }) {
  let connected = 0
  const failed: Record<string, number> = {}
  const ends: Promise<void>[] = []
  await paced(rate * seconds, rate, place => {
    const password = setup.thingTokens[place % setup.thingTokens.length] ?? ''
    ends.push(
      connectOnce(connectPacket({ clientId: `visitor-${place}`, username: 'device', password })).then(
        answer => {
          if (answer === 'CONNACK 0') connected++
          else failed[answer] = (failed[answer] ?? 0) + 1
        },
      ),
    )
  })
  await Promise.all(ends)
  return { connected, failed }
}

/** CONNECT, CONNACK, DISCONNECT. @returns what the server answered */
function connectOnce(packet: Buffer): Promise<string> {
  return new Promise(resolve => {
    const socket = connect(endpoint())
    let answer = 'nothing'
    socket.setTimeout(connectDeadline, () => {
      answer = `nothing within ${connectDeadline / 1_000} s`
      socket.destroy()
    })
    socket.on('connect', () => socket.write(packet))
    socket.on('data', bytes => {
      answer = `CONNACK ${bytes[3]}`
      socket.end(disconnectPacket)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (answer === 'nothing') answer = error.code ?? error.message
    })
    socket.on('close', () => resolve(answer))
  })
}

async function runLoris({ count, deadlines }: { count: number; deadlines: Record<LorisKind, number> }) {
  const target: LorisTarget = { ...setup, thingToken: setup.thingTokens[0] ?? '' }
  const begin = performance.now()
  const kinds = lorisKinds.map(kind => {
    const lives = Array.from({ length: count }, () => openLoris(kind, target, deadlines[kind] * 1_000))
    return { kind, lives }
  })
  const ticker = setInterval(() => {
    const seconds = ((performance.now() - begin) / 1_000).toFixed(0)
    const open = kinds.map(({ kind, lives }) => `${kind} ${lives.filter(life => life.isOpen).length}`)
    tell(`${seconds} s, still open: ${open.join(', ')}`)
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
    if (place > 0 && place % Math.ceil(times / 6) === 0) tell(`${place} of ${times}`)
  }
}

function endpoint() {
  const { hostname, port } = new URL(setup.mqttUrl)
  return { host: hostname, port: Number(port), noDelay: true }
}

function tell(progress: string): void {
  console.log(`        ${progress}`)
}
