import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Outbox } from '../../src/live/outbox.ts'

const mebibyte = 1024 * 1024

interface Setup {
  readonly joined?: number
  readonly drainTimeout?: number
  /** Texts that cannot go yet. */
  readonly held?: ReadonlySet<string>
}

async function start({ joined = 16 * 1024, drainTimeout = 20_000, held = new Set() }: Setup = {}) {
  const pair = await openSocketPair()
  const reasons: string[] = []
  let given = () => {}
  const givenUp = new Promise<void>(resolve => {
    given = resolve
  })
  const outbox = new Outbox<string>({
    sink: pair.near,
    socket: pair.near,
    encode: text => (held.has(text) ? undefined : Buffer.from(text)),
    weigh: text => text.length,
    joined,
    drainTimeout,
    onStuck: why => {
      reasons.push(why)
      given()
    },
  })
  return { ...pair, outbox, reasons, givenUp }
}

/** Resolves when what was pushed is on its way, as far as it can be. */
const turn = () => new Promise(resolve => setImmediate(resolve))

async function text(pair: SocketPair, length: number): Promise<string> {
  return (await receive(pair.far, length)).toString()
}

/** Texts of this size that tell their place. */
const texts = (count: number, size: number) =>
  Array.from({ length: count }, (_, place) => `<${place}>`.padEnd(size, '.'))

describe('an outbox', () => {
  it.each([0, 1, 16 * 1024])('sends what is pushed, in order, joined to %i bytes at a time', async joined => {
    const started = await start({ joined })
    const sent = texts(5_000, 100)
    const received = text(started, 500_000)
    for (const [place, each] of sent.entries()) {
      started.outbox.push(each)
      if (place % 700 === 0) await turn()
    }
    expect(await received).toBe(sent.join(''))
    expect(started.reasons).toEqual([])
  })

  it('sends all to a peer that begins to read late', async () => {
    const { outbox, far, near, reasons } = await start()
    const sent = texts(70, 100_000)
    for (const each of sent) outbox.push(each)
    await turn()
    expect(near.writableNeedDrain).toBe(true)
    expect((await receive(far, 7_000_000)).toString()).toBe(sent.join(''))
    expect(reasons).toEqual([])
  })

  it('leaves what it cannot encode yet, and all behind it, until it is pumped', async () => {
    const held = new Set(['b'])
    const started = await start({ held })
    for (const each of ['a', 'b', 'c']) started.outbox.push(each)
    expect(await text(started, 1)).toBe('a')
    await turn()
    held.clear()
    const rest = text(started, 2)
    started.outbox.pump()
    expect(await rest).toBe('bc')
  })

  it('tells how many bytes in the sink are not its own', async () => {
    const { outbox, near } = await start()
    outbox.push('x'.repeat(7 * mebibyte))
    await turn()
    const own = near.writableLength
    expect(own).toBeGreaterThan(0)
    expect(outbox.foreignBytes).toBe(0)
    near.write('y'.repeat(1_000))
    near.write('y'.repeat(500))
    expect(outbox.foreignBytes).toBeGreaterThan(0)
    expect(outbox.foreignBytes).toBeLessThanOrEqual(1_500)
  })
})

describe('a slot', () => {
  it('keeps what was pushed behind it back until it is closed, and lets through what is pushed into it', async () => {
    const started = await start()
    const { outbox } = started
    outbox.push('a')
    const slot = outbox.openSlot()
    outbox.push('d')
    const received: string[] = []
    started.far.on('data', bytes => received.push(String(bytes)))
    started.far.resume()
    await once(started.far, 'data')
    await turn()
    expect(received.join('')).toBe('a')
    slot.push('b')
    await once(started.far, 'data')
    slot.push('c')
    await once(started.far, 'data')
    expect(received.join('')).toBe('abc')
    slot.close()
    await once(started.far, 'data')
    expect(received.join('')).toBe('abcd')
    slot.push('too late')
    slot.close()
    outbox.push('e')
    await once(started.far, 'data')
    expect(received.join('')).toBe('abcde')
  })

  it('keeps its place among others, whichever is closed first', async () => {
    const started = await start()
    const { outbox } = started
    const [first, second, third] = [outbox.openSlot(), outbox.openSlot(), outbox.openSlot()]
    outbox.push('4')
    third.push('3')
    third.close()
    second.close()
    second.push('no')
    first.push('1')
    first.push('2')
    first.close()
    expect(await text(started, 4)).toBe('1234')
  })

  it('says when everything that was pushed into it is on its way', async () => {
    const { outbox, far } = await start()
    const slot = outbox.openSlot()
    expect(await slot.whenTaken()).toBe(true)
    for (const each of texts(100, 100_000)) slot.push(each)
    let isTaken = false
    const taken = slot.whenTaken().then(result => {
      isTaken = result
    })
    await turn()
    await turn()
    // The peer does not read: 10 MB do not go on their way.
    expect(isTaken).toBe(false)
    const received = receive(far, 10_000_000)
    await taken
    expect(isTaken).toBe(true)
    await received
  })

  it('waits behind another one for its turn', async () => {
    const started = await start()
    const [first, second] = [started.outbox.openSlot(), started.outbox.openSlot()]
    second.push('b')
    let isTaken = false
    const taken = second.whenTaken().then(() => {
      isTaken = true
    })
    await turn()
    expect(isTaken).toBe(false)
    first.close()
    await taken
    expect(await text(started, 1)).toBe('b')
  })
})

describe('a peer that does not read', () => {
  it('is given up, once, when more than 8 MiB wait for it', async () => {
    const { outbox, near, reasons } = await start()
    const kilobyte = 'x'.repeat(1024)
    for (let pushed = 0; pushed <= 8 * 1024; pushed++) outbox.push(kilobyte)
    expect(reasons).toHaveLength(1)
    for (const each of texts(20, mebibyte)) outbox.push(each)
    await turn()
    expect(reasons).toHaveLength(1)
    expect(near.writableLength).toBe(0)
    expect(near.destroyed).toBe(false)
  })

  it('is not given up for as much as 8 MiB, with what is in its sink', async () => {
    const { outbox, far, near, reasons } = await start()
    // Fills the buffers of the system, too.
    let sent = 0
    while (!near.writableNeedDrain) {
      outbox.push('x'.repeat(16 * 1024))
      sent += 16 * 1024
      await turn()
    }
    const rest = 8 * mebibyte - near.writableLength - 1024
    outbox.push('y'.repeat(rest))
    await turn()
    expect(reasons).toEqual([])
    await receive(far, sent + rest)
    expect(reasons).toEqual([])
  })

  it('is given up, once, when its sink has taken nothing for drainTimeout', async () => {
    const { outbox, givenUp, reasons } = await start({ drainTimeout: 300 })
    for (const each of texts(70, 100_000)) outbox.push(each)
    await givenUp
    await delay(600)
    expect(reasons).toHaveLength(1)
  })

  it('is not given up for a pause of the process, in which it cannot be heard of what was taken', async () => {
    const { outbox, far, reasons } = await start({ drainTimeout: 300 })
    const sent = texts(70, 100_000)
    for (const each of sent) outbox.push(each)
    await turn()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
    expect((await receive(far, 7_000_000)).toString()).toBe(sent.join(''))
    expect(reasons).toEqual([])
  })

  it('is given up when it stops after it has read for a while', async () => {
    const { outbox, far, givenUp, reasons } = await start({ drainTimeout: 300 })
    for (const each of texts(70, 100_000)) outbox.push(each)
    for (let reads = 0; reads < 6; reads++) {
      far.read(64 * 1024)
      await delay(100)
    }
    await givenUp
    expect(reasons).toHaveLength(1)
  })

  it('is given up for what others write to the sink, if it is watched', async () => {
    const { outbox, near, givenUp } = await start({ drainTimeout: 300 })
    near.write(Buffer.alloc(16 * mebibyte))
    outbox.watch()
    await givenUp
  })
})

describe('a peer that reads slowly', () => {
  it.each([
    ['small items', 500],
    ['items that are larger than it reads within drainTimeout', mebibyte],
  ])('is not given up, and gets everything: %s', async (_name, size) => {
    const { outbox, far, reasons } = await start({ drainTimeout: 1_500 })
    const sent = texts(Math.floor((8 * mebibyte) / size) - 1, size)
    for (const each of sent) outbox.push(each)
    const pieces: Buffer[] = []
    far.on('readable', () => {})
    // Much less in drainTimeout than lies in the buffers of the system.
    for (let reads = 0; reads < 60; reads++) {
      const piece = far.read() as Buffer | null
      if (piece) pieces.push(piece)
      await delay(60)
    }
    expect(reasons).toEqual([])
    const left = sent.length * size - Buffer.concat(pieces).length
    far.removeAllListeners('readable')
    pieces.push(await receive(far, left))
    expect(Buffer.concat(pieces).equals(Buffer.from(sent.join('')))).toBe(true)
    expect(reasons).toEqual([])
  })
})

describe('close()', () => {
  it('drops what waits, ends all slots, and leaves the sink alone', async () => {
    const { outbox, near, far, reasons } = await start({ drainTimeout: 200 })
    const slot = outbox.openSlot()
    slot.push('in the slot')
    slot.push('and more')
    outbox.push('behind it')
    const other = outbox.openSlot()
    other.push('in the other')
    const taken = [slot.whenTaken(), other.whenTaken()]
    outbox.close()
    outbox.close()
    expect(await taken[1]).toBe(false)
    outbox.push('after it')
    const late = outbox.openSlot()
    late.push('in a late one')
    expect(await late.whenTaken()).toBe(false)
    outbox.pump()
    await delay(300)
    expect(reasons).toEqual([])
    expect(near.listenerCount('drain')).toBe(0)
    const [bytes] = [far.read() as Buffer | null]
    // The first slot was at the head: what was in it may have been on its way.
    expect(bytes === null || bytes.toString() === 'in the gapand more').toBe(true)
    expect(near.destroyed).toBe(false)
  })
})

interface SocketPair {
  /** What the code under test writes to. */
  readonly near: Socket
  /** Its peer: reads nothing until it is resumed. */
  readonly far: Socket
}

/** Two ends of a TCP connection, destroyed at the end of the test. */
async function openSocketPair(): Promise<SocketPair> {
  const server = createServer({ noDelay: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const far = connect((server.address() as AddressInfo).port, '127.0.0.1')
  far.pause()
  const [near] = await accepted
  server.close()
  for (const socket of [near, far]) {
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  }
  return { near, far }
}

/** Reads everything from now on. @returns resolves with what was received, when it is so many bytes */
function receive(far: Socket, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    far.on('data', (piece: Buffer) => {
      pieces.push(piece)
      size += piece.length
      if (size >= bytes) resolve(Buffer.concat(pieces))
    })
    far.once('close', () => reject(new Error(`the connection ended after ${size} of ${bytes} bytes`)))
    far.resume()
  })
}
