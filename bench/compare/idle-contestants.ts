import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connectPacket } from '../load/mqtt-packets.ts'
import { copyStore } from '../peers/filled-store.ts'
import { host } from '../peers/peer.ts'
import { residentMemory } from '../peers/processes.ts'
import { type Product, startProduct, startProductOn } from '../peers/product.ts'
import type { Contestant, Session } from './comparison.ts'
import { tokenOf } from './mqtt-sides.ts'
import { settled } from './usage.ts'

const megabyte = 1e6
const connections = 1_000
/** Connections that are opened at once. */
const atOnce = 50
/** Milliseconds for memory to become what it stays at behind new connections. */
const rest = 3_000
/** Milliseconds for memory to become what it stays at behind a start: eight seconds after it, V8 collects once more. */
const restFromStart = 15_000

/** Milliseconds in which all records of the filled store are packed. */
const compaction = 300_000

/**
 * Resident megabytes of the product on the filled store, before anybody connects, when it does nothing any more.
 *
 * It is the second start on that store: the first one packs what was written, which is done once.
 */
export async function restingMemory(session: Session): Promise<Contestant> {
  return {
    turn: async () => {
      const dataDir = await copyStore(session.filled, session.directory)
      try {
        await runOn(dataDir, session)
        return { figure: (await runOn(dataDir, session)) / megabyte, cores: {} }
      } finally {
        await rm(dataDir, { recursive: true })
      }
    },
    stop: async () => {},
  }
}

/** Starts the product, lets it rest, stops it; bytes that were resident at the end. */
async function runOn(dataDir: string, session: Session): Promise<number> {
  const product = await startProductOn(dataDir, session)
  try {
    await delay(restFromStart)
    await settled(product, compaction)
    return residentMemory(product.processId)
  } finally {
    await product.stop()
  }
}

/** Seconds from the start of the process until it says that it is ready. */
export function starting(session: Session): Promise<Contestant> {
  return started(session, async (_, seconds) => seconds)
}

/** Bytes of resident memory that each of 1,000 connections adds that do nothing, with a credential, where 1,000 are open. */
export function idleConnections(session: Session): Promise<Contestant> {
  return started(session, async product => {
    const packet = (clientId: string) => connectPacket({ clientId, username: tokenOf(session.filled, 0) })
    const open = async (count: number, prefix: string) => {
      const sockets: Socket[] = []
      for (let first = 0; first < count; first += atOnce) {
        const places = Array.from({ length: Math.min(atOnce, count - first) }, (_, index) => first + index)
        sockets.push(
          ...(await Promise.all(places.map(place => connected(product.port, packet(`${prefix}${place}`))))),
        )
      }
      await delay(rest)
      return sockets
    }
    // The first ones also pay for what there is once: code, and the room in which new objects are made.
    const early = await open(connections, 'early-')
    const before = residentMemory(product.processId)
    const sockets = await open(connections, 'idle-')
    const growth = residentMemory(product.processId) - before
    for (const socket of [...early, ...sockets]) socket.destroy()
    return growth / connections
  })
}

/** A turn starts the product on a copy of the filled store of its own. */
async function started(
  session: Session,
  read: (product: Product, secondsToReady: number) => Promise<number>,
): Promise<Contestant> {
  return {
    turn: async () => {
      const product = await startProduct(session)
      try {
        await settled(product)
        return { figure: await read(product, product.secondsToReady), cores: {} }
      } finally {
        await product.stop()
      }
    },
    stop: async () => {},
  }
}

/** @throws Error if the connection is refused */
async function connected(port: number, packet: Buffer): Promise<Socket> {
  const socket = connect(port, host)
  socket.write(packet)
  const ended = once(socket, 'close').then(() => Promise.reject(new Error('CONNECT was not answered')))
  ended.catch(() => {})
  const [answer] = (await Promise.race([once(socket, 'data'), ended])) as [Buffer]
  if (answer[0] !== 0x20 || answer[3] !== 0) throw new Error(`CONNECT was answered ${answer.toString('hex')}`)
  return socket
}
