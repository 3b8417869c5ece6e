import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const main = new URL('../../src/cli/main.ts', import.meta.url)
const imported = /^(?:import|export) (?!type\b)(?:[^']*? from )?'([^']+)'/gms

/** Files and packages that are loaded with a file, whatever is then called. */
async function loadedWith(file: URL, found: Set<string> = new Set()): Promise<Set<string>> {
  if (found.has(file.href)) return found
  found.add(file.href)
  for (const [, specifier = ''] of (await readFile(file, 'utf8')).matchAll(imported)) {
    if (specifier.startsWith('.')) await loadedWith(new URL(specifier, file), found)
    else found.add(specifier)
  }
  return found
}

test('a command that talks to a server loads nothing of the server', async () => {
  const loaded = [...(await loadedWith(main))]
  const packages = loaded.filter(each => !each.startsWith('file:') && !each.startsWith('node:'))
  expect(packages).toEqual(['commander'])
  const outside = loaded.filter(each => each.startsWith('file:') && !each.includes('/src/cli/'))
  expect(outside.map(each => each.slice(each.indexOf('/src/'))).sort()).toEqual([
    '/src/core/algorithms/partition-point.ts',
    '/src/core/files/access-fault.ts',
    '/src/core/files/make-directory.ts',
    '/src/core/files/private-file.ts',
    '/src/core/json/exact-json.ts',
    '/src/core/json/printable.ts',
    '/src/core/json/unescaped.ts',
    '/src/core/record/datetime.ts',
    '/src/core/record/key.ts',
    '/src/core/record/record-text.ts',
    '/src/core/refusals/redactor.ts',
    '/src/core/time/calendar-buckets.ts',
    '/src/core/time/time-zone.ts',
    '/src/core/time/utc-buckets.ts',
    '/src/core/token.ts',
    '/src/core/topics/topic-filter.ts',
    '/src/errors.ts',
  ])
})
