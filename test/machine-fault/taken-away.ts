import { mkdir, readdir, rename, rm, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Changes } from '../helpers/changes.ts'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { runCli, startServer } from '../helpers/server-process.ts'
import type { SmallFileSystem } from './small-file-system.ts'

/** How the data directory goes away, and how it comes back, if it does. */
export interface Way {
  readonly needsMount?: true
  takeAway(place: Place): Promise<void>
  bringBack?(place: Place): Promise<void>
}

export interface Place {
  readonly dataDir: string
  /** A directory beside it. */
  readonly beside: string
  /** Mounted at the data directory; only for a way that needs it. */
  readonly mounted: SmallFileSystem | undefined
}

export const ways = {
  'rm -r': { takeAway: ({ dataDir }) => rm(dataDir, { recursive: true, force: true, maxRetries: 10 }) },
  'rm -r of the store': {
    takeAway: ({ dataDir }) => rm(join(dataDir, 'store'), { recursive: true, force: true, maxRetries: 10 }),
  },
  'moved away': { takeAway: ({ dataDir, beside }) => rename(dataDir, beside), bringBack: moveBack },
  'an empty directory in its place': {
    async takeAway({ dataDir, beside }) {
      await rename(dataDir, beside)
      await mkdir(dataDir)
    },
    bringBack: moveBack,
  },
  'a link to another directory': {
    async takeAway({ dataDir, beside }) {
      await mkdir(`${beside}-empty`)
      await unlink(dataDir)
      await symlink(`${beside}-empty`, dataDir)
    },
    async bringBack({ dataDir, beside }) {
      await unlink(dataDir)
      await symlink(beside, dataDir)
    },
  },
  'umount -l': {
    needsMount: true,
    takeAway: async ({ mounted }) => mounted?.detach(),
  },
  'umount -l, then the same again': {
    needsMount: true,
    takeAway: async ({ mounted }) => mounted?.detach(),
    bringBack: async ({ mounted }) => mounted?.attach(),
  },
} as const satisfies Record<string, Way>
export type WayName = keyof typeof ways

async function moveBack({ dataDir, beside }: Place): Promise<void> {
  await rm(dataDir, { recursive: true })
  await rename(beside, dataDir)
}

/**
 * Takes the data directory away under a server that a device writes to: it acknowledges nothing 5 s later, ends with status 1, and is
 * not started on an empty one; what it had acknowledged is there if the directory comes back.
 *
 * @param acks before it goes
 * @returns what is wrong, in words
 */
export async function takeAway(name: WayName, place: Place, acks: number): Promise<readonly string[]> {
  const way: Way = ways[name]
  const { dataDir, beside } = place
  if (name === 'a link to another directory') {
    await mkdir(beside)
    await symlink(beside, dataDir)
  }
  const server = await startServer({ dataDir })
  try {
    const thing = await createThing(server)
    let [acked, ackedBefore, lastAck, gone] = [0, 0, 0, Number.POSITIVE_INFINITY]
    let hasEnded = false
    const changes = new Changes()
    const writing = (async () => {
      while (!hasEnded) {
        const body = { values: [{ key: 'n', value: acked }] }
        const answer = await write(server, thing, body).catch(() => undefined)
        if (answer?.status !== 201) continue
        acked++
        lastAck = performance.now()
        if (lastAck < gone) ackedBefore = acked
        changes.tell()
      }
    })()
    await changes.until(() => acked >= acks)
    await way.takeAway(place)
    gone = performance.now()
    const { code, stderr } = await server.exited
    hasEnded = true
    await writing
    const args = ['start', '--data-dir', dataDir, '--http-port', '0', '--mqtt-port', '0']
    const startedAway = await runCli({ args })
    const left = await readdir(dataDir)
    let missing = 0
    if (way.bringBack) {
      await way.bringBack(place)
      const back = await startServer({ dataDir })
      const found = new Set((await readAll(back, thing, 'n')).map(({ value }) => value as number))
      missing = Array.from({ length: ackedBefore }, (_, n) => n).filter(n => !found.has(n)).length
      await back.stop()
    }
    const fatal = stderr.split('\n').filter(line => line.includes('"level":60'))
    const isNamed = fatal.some(line => /the store in .+ is lost: .*Bring the data directory back/.test(line))
    const refusal = /^thingwire: [^\n]*disappeared while a server was running[^\n]*\n$/
    const isRefused = startedAway.code === 1 && refusal.test(startedAway.stderr)
    return [
      ...(code === 1 && isNamed ? [] : [`it ended with ${code}, and logged ${fatal.join(' ')}`]),
      ...(lastAck - gone < 5_000 ? [] : [`the last ack came ${lastAck - gone} ms later`]),
      ...(isRefused ? [] : [`started again it ended with ${startedAway.code}: ${startedAway.stderr}`]),
      ...(left.includes('store-lost') && !left.includes('store') ? [] : [`in its place: ${left.join(', ')}`]),
      ...(missing === 0 ? [] : [`${missing} acknowledged records are missing when it is back`]),
    ]
  } finally {
    await server.kill()
  }
}
