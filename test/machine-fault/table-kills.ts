import { watch } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { noRateLimits, runCli, startServer } from '../helpers/server-process.ts'

export interface TableKill {
  /** In words. */
  readonly violations: readonly string[]
  /** Files that the kill left half written, as `thingwire check` names them. */
  readonly remnants: number
}

/** Kills a server as soon as it has begun to write a table, and checks its store; then with a flipped byte in a file of it. */
export async function killWhileWritingTable(dataDir: string): Promise<TableKill> {
  const server = await startServer({ dataDir, environment: noRateLimits })
  const store = join(dataDir, 'store')
  let hasEnded = false
  try {
    const thing = await createThing(server)
    const table = nextTable(store)
    const writing = Promise.all([0, 1, 2, 3].map(() => writeUntil(() => hasEnded, server, thing)))
    await table
    await server.kill()
    hasEnded = true
    await writing
  } finally {
    hasEnded = true
    await server.kill()
  }
  const { code, stdout } = await check(dataDir)
  const remnants = new Set(stdout.match(/^[^:\n]+(?=: a remnant)/gm))
  const flipped = await checkFlipped(dataDir, remnants)
  const isSound = code === 0 && stdout.includes('No faults.')
  return {
    violations: [
      ...(isSound ? [] : [`check ends with ${code}: ${stdout}`]),
      ...(flipped === 1 ? [] : [`with another byte in a table it ends with ${flipped}`]),
    ],
    remnants: remnants.size,
  }
}

function nextTable(store: string): Promise<void> {
  return new Promise(resolve => {
    const watcher = watch(store, (_, name) => {
      if (!name?.endsWith('.ldb')) return
      watcher.close()
      resolve()
    })
  })
}

async function writeUntil(hasEnded: () => boolean, server: { url: string; adminKey: string }, thing: Thing) {
  // Values that do not compress: a table of them takes long.
  while (!hasEnded()) {
    const values = Array.from({ length: 100 }, (_, place) => ({
      key: 'n',
      value: Buffer.from(crypto.getRandomValues(new Uint8Array(6_000))).toString('base64') + place,
    }))
    await write(server, thing, { values }).catch(() => {})
  }
}

/** Flips a byte in the middle of the largest table, or of the log if there is none, and back. */
async function checkFlipped(dataDir: string, remnants: ReadonlySet<string>): Promise<number | null> {
  const store = join(dataDir, 'store')
  const names = (await readdir(store)).filter(name => !remnants.has(name))
  const name = names.find(each => each.endsWith('.ldb')) ?? names.find(each => each.endsWith('.log')) ?? ''
  const whole = await readFile(join(store, name))
  const flipped = Buffer.from(whole)
  const at = Math.floor(whole.length / 2)
  flipped[at] = (flipped[at] ?? 0) ^ 1
  await writeFile(join(store, name), flipped)
  const { code } = await check(dataDir)
  await writeFile(join(store, name), whole)
  return code
}

function check(dataDir: string) {
  return runCli({ args: ['check', '--data-dir', dataDir] })
}
