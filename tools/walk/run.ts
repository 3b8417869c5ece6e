import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Flow, flows, openService } from './flows.ts'
import { FunctionCoverage } from './function-coverage.ts'

/** Prints the functions of `src` that one warm request runs, file by file: `npm run walk -- publish`. */

/** Requests in a row; a timer of the server that fires during one of them is in none of the others. */
const repeats = 5

async function walk(flow: Flow): Promise<ReadonlyMap<string, readonly string[]>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'walk-'))
  const service = await openService(dataDir)
  const coverage = await FunctionCoverage.start()
  try {
    const { before, request } = await flow(service)
    for (let turn = 0; turn < repeats; turn++) {
      await before?.()
      await request()
    }
    let common: Set<string> | undefined
    for (let turn = 0; turn < repeats; turn++) {
      await before?.()
      await coverage.take()
      await request()
      const ran = await coverage.take()
      common = new Set([...ran].filter(name => common?.has(name) ?? true))
    }
    return byFile([...(common ?? [])])
  } finally {
    await coverage.stop()
    await service.close()
    await rm(dataDir, { recursive: true })
  }
}

/** @param names each `<file URL> <function>` */
function byFile(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, string[]>()
  for (const name of names.toSorted()) {
    const [url = '', called = ''] = name.split(' ')
    const file = relative(resolve('.'), fileURLToPath(url))
    files.set(file, [...(files.get(file) ?? []), called])
  }
  return files
}

const [name = '', ...others] = process.argv.slice(2)
const flow = flows.get(name)
if (!flow || others.length > 0) {
  console.error(`usage: npm run walk -- ${[...flows.keys()].join('|')}`)
  process.exit(2)
}
const files = await walk(flow)
for (const [file, functions] of files) console.log(`${file}\n  ${functions.join(', ')}`)
const count = [...files.values()].reduce((sum, functions) => sum + functions.length, 0)
console.log(`${name}: ${files.size} files, ${count} functions`)
