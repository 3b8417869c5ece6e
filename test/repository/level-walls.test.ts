import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** What reads more than known keys of a LevelDB; src/store/level/database/scan.ts says why nothing else may. */
const iterates = /\.(iterator|nextv)\(|\blevel\.(keys|values|clear)\(|\.all\(\)/

/** Whether a source iterates over a LevelDB, however its calls are broken into lines. */
function doesIterate(source: string): boolean {
  return iterates.test(source.replaceAll(/\s*\n\s*\./g, '.'))
}

test('only scan.ts iterates over the embedded store', () => {
  const sources = (readdirSync('src', { recursive: true }) as string[]).filter(name => name.endsWith('.ts'))
  const iterating = sources.filter(name => doesIterate(readFileSync(join('src', name), 'utf8')))
  expect(iterating).toEqual(['store/level/database/scan.ts'])
})

test.each([
  'database.level.iterator({ gte, lt })',
  'this.#database.level\n      .keys(range)\n      .next()',
  'level.values(range)',
  'database.level.clear(range)',
  'await cursor.nextv(1)',
  'await found.all()',
])('what iterates is found: %j', source => {
  expect(doesIterate(source)).toBe(true)
})

test.each([
  'byKey.keys()',
  'this.#surroundings\n    .values()',
  'await Promise.all(loading)',
  '[Symbol.iterator]()',
  'cache.clear()',
])('what does not iterate over a LevelDB is let be: %j', source => {
  expect(doesIterate(source)).toBe(false)
})

test('only runs/ and the check of the format know that several records may be one entry', () => {
  const sources = (readdirSync('src', { recursive: true }) as string[]).filter(name => name.endsWith('.ts'))
  const knowing = sources.filter(name => readFileSync(join('src', name), 'utf8').includes("record-run.ts'"))
  expect(new Set(knowing.map(dirname))).toEqual(new Set(['store/level/runs', 'store/level/check']))
})
