import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { ascending, valuesOf } from '../../../../src/conformance/writes.ts'
import { packedForm } from '../../../../src/store/level/chunks/packed-chunk.ts'
import { checkLevelStore, createLevelStore } from '../../../../src/store/level/index.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { Child } from '../../../helpers/child.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'
import { deaths } from './die-at-batch.ts'
import { entriesOf } from './packed-store.ts'

const program = fileURLToPath(new URL('killed-compactor.ts', import.meta.url))
const tsx = import.meta.resolve('tsx')

/** Writes from a value on until it dies at that point. @returns what it said, line by line */
async function writeUntilKilled(location: string, point: string, batches: number, first: number) {
  const args = ['--import', tsx, program, location, point, String(batches), String(first)]
  const child = new Child(process.execPath, args)
  onTestFinished(async () => void (await child.end('SIGKILL')))
  const { signal, stdout, stderr } = await child.exited
  expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
  return stdout.split('\n')
}

it('every record is in one place when the compactor is killed at any step', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const kept = new Set<number>()
  const uncertain = new Set<number>()
  let next = 0
  for (const batches of [1, 8, 60]) {
    for (const point of deaths) {
      const lines = await writeUntilKilled(location, point, batches, next)
      for (const [index, line] of lines.entries()) {
        const [, what, value = Number.NaN] = /^(append|remove) (\d+)$/.exec(line) ?? []
        if (!what) continue
        next = Math.max(next, Number(value) + 1)
        if (lines[index + 1] !== 'done') uncertain.add(Number(value))
        else if (what === 'append') kept.add(Number(value))
        else kept.delete(Number(value))
      }
      expect((await checkLevelStore(location)).faults).toEqual([])
      const store = await openStore(createLevelStore({ location }))
      const values = (await valuesOf(store.records)) as number[]
      await store.close()
      expect(new Set(values).size).toBe(values.length)
      // What was not done when it died is done as a whole, or nothing of it is.
      for (const each of uncertain) {
        if (values.includes(each)) kept.add(each)
        else kept.delete(each)
      }
      expect(ascending(values)).toEqual(ascending(kept))
      uncertain.clear()
    }
  }
  expect((await entriesOf(location)).some(([, bytes]) => bytes[0] === packedForm)).toBe(true)
})
