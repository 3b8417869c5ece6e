import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Entries that are found at one look. */
const most = 20

/** Folders whose entries are all of one kind: whoever knows one knows where to find another. */
const lists = ['src/conformance', 'src/store/redis/scripts']

test('no folder of the source has more than 20 entries that are unlike', () => {
  const roots = ['src', 'web/src']
  const directories = roots
    .flatMap(root => readdirSync(root, { withFileTypes: true, recursive: true }))
    .filter(entry => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
  const large = [...roots, ...directories].filter(directory => readdirSync(directory).length > most)
  expect(large.sort()).toEqual(lists)
})
