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

interface TakenAway {
  /** Exit status of the server, and its lines of level `fatal`. */
  readonly code: number | null
  readonly fatal: string
  /** The newest acknowledgement, milliseconds after the directory went. */
  readonly lastAck: number
  /** Of a start while it is away: exit status, and stderr. */
  readonly startedAway: { readonly code: number | null; readonly stderr: string }
  /** Acknowledged before it went, and not there when it is back. Undefined if it does not come back. */
  readonly missing: number | undefined
  /** Entries in the place of the data directory, before it comes back. */
  readonly left: readonly string[]
}

/** Takes the data directory away under a server that a device writes to. */
export async function takeAway(name: WayName, place: Place, acks: number): Promise<TakenAway> {
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
    let missing: number | undefined
    if (way.bringBack) {
      await way.bringBack(place)
      const back = await startServer({ dataDir })
      const found = new Set((await readAll(back, thing, 'n')).map(({ value }) => value as number))
      missing = Array.from({ length: ackedBefore }, (_, n) => n).filter(n => !found.has(n)).length
      await back.stop()
    }
    const fatal = stderr
      .split('\n')
      .filter(line => line.includes('"level":60'))
      .join('\n')
    return { code, fatal, lastAck: Math.max(lastAck - gone, 0), startedAway, missing, left }
  } finally {
    await server.kill()
  }
}
