import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Who may import whom: `docs/architecture.md` has the rules, and this test holds the source to them. */

const page = readFileSync('docs/architecture.md', 'utf8')
const words = (text: string) => [...text.matchAll(/`([\w-]+)`/g)].map(([, word = '']) => word)

/** By room of src, the rooms that it may import beside itself; `things.ts` and other files of src itself have no row. */
const rooms = new Map(
  [...page.matchAll(/^\| `(\w+)` \| (nothing|everything but .*|`.*) \|$/gm)].map(
    ([, room = '', text = '']) => {
      const named = words(text)
      return [room, (other: string) => named.includes(other) !== text.startsWith('everything but')]
    },
  ),
)
/** By folder with ranked folders, these: each imports those before it alone. */
const ranked = [...page.matchAll(/^In `([\w/]+)` each folder imports those before it: (.*)$/gm)].map(
  ([, folder = '', text = '']) => ({ folder: `${folder}/`, names: words(text) }),
)

interface Import {
  /** Paths from the root of the repository. */
  readonly from: string
  readonly to: string
}

/** Whether the page has a rule against an import. */
function isRefused({ from, to }: Import): boolean {
  const [root, room = ''] = from.split('/')
  const [otherRoot, other = ''] = to.split('/')
  if (root === 'web') return otherRoot === 'src'
  for (const { folder, names } of ranked) {
    // Files of the folder itself may import all of its folders.
    const rank = (file: string) => names.indexOf(file.slice(folder.length).split('/')[0] ?? '')
    if (![from, to].every(file => file.startsWith(folder))) continue
    return rank(from) !== -1 && rank(to) > rank(from)
  }
  return other !== room && other !== 'errors.ts' && rooms.get(room)?.(other) === false
}

function sourcesOf(root: string): { readonly file: string; readonly text: string }[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return names
    .filter(name => /\.tsx?$/.test(name))
    .map(name => ({ file: join(root, name), text: readFileSync(join(root, name), 'utf8') }))
}

const sources = [...sourcesOf('src'), ...sourcesOf('web')]

function importsOf({ file, text }: { readonly file: string; readonly text: string }): Import[] {
  return [...text.matchAll(/(?:\bfrom|\bimport\(?) ?'(\.[^']*)'/g)].map(([, path = '']) => ({
    from: file,
    to: join(dirname(file), path),
  }))
}

describe('the source', () => {
  it('imports along the rules of architecture.md', () => {
    expect(sources.flatMap(importsOf).filter(isRefused)).toEqual([])
  })

  it('has a rule for each room', () => {
    const folders = (root: string) =>
      readdirSync(root, { withFileTypes: true }).flatMap(entry => (entry.isDirectory() ? entry.name : []))
    expect([...rooms.keys(), 'cli'].sort()).toEqual(folders('src').sort())
    for (const { folder, names } of ranked) expect([...names].sort()).toEqual(folders(folder).sort())
    expect(ranked.map(({ folder }) => folder)).toEqual(['src/store/level/', 'src/mqtt/'])
  })

  it.each([
    ['src/core/a.ts', 'src/store/contract.ts'],
    ['src/core/a.ts', 'src/things.ts'],
    ['src/store/level/chunks/a.ts', 'src/access/index.ts'],
    ['src/http/routes/a.ts', 'src/mqtt/index.ts'],
    ['src/conformance/a.ts', 'src/http/index.ts'],
    ['src/live/a.ts', 'src/forward/forwarder.ts'],
    ['src/embed/a.ts', 'src/mqtt/index.ts'],
    ['src/server/a.ts', 'src/cli/main.ts'],
    ['src/mqtt/packets/a.ts', 'src/mqtt/doors/publish-door.ts'],
    ['src/store/level/chunks/a.ts', 'src/store/level/staging/staged-records.ts'],
    ['web/src/a.ts', 'src/errors.ts'],
  ])('may not import: %s %s', (from, to) => {
    expect(isRefused({ from, to })).toBe(true)
  })

  it.each([
    ['src/core/a.ts', 'src/errors.ts'],
    ['src/store/level/chunks/a.ts', 'src/core/ports.ts'],
    ['src/embed/a.ts', 'src/http/reading/pages.ts'],
    ['src/server/a.ts', 'src/store/level/index.ts'],
    ['src/mqtt/doors/a.ts', 'src/mqtt/packets/encode.ts'],
    ['src/mqtt/attach.ts', 'src/mqtt/doors/mqtt-door.ts'],
    ['src/things.ts', 'src/access/index.ts'],
  ])('may import: %s %s', (from, to) => {
    expect(isRefused({ from, to })).toBe(false)
  })
})

/** What reads more than known keys of a LevelDB; src/store/level/database/scan.ts says why nothing else may. */
const iterates = /\.(iterator|nextv)\(|\blevel\.(keys|values|clear)\(|\.all\(\)/

/** Whether a source iterates over a LevelDB, however its calls are broken into lines. */
function doesIterate(source: string): boolean {
  return iterates.test(source.replaceAll(/\s*\n\s*\./g, '.'))
}

describe('the embedded store', () => {
  it('is iterated over in scan.ts alone', () => {
    const iterating = sources.filter(({ file, text }) => file.startsWith('src') && doesIterate(text))
    expect(iterating.map(({ file }) => file)).toEqual(['src/store/level/database/scan.ts'])
  })

  it.each([
    ['database.level.iterator({ gte, lt })', true],
    ['this.#database.level\n      .keys(range)\n      .next()', true],
    ['level.values(range)', true],
    ['database.level.clear(range)', true],
    ['await cursor.nextv(1)', true],
    ['await found.all()', true],
    ['byKey.keys()', false],
    ['this.#surroundings\n    .values()', false],
    ['await Promise.all(loading)', false],
    ['[Symbol.iterator]()', false],
    ['cache.clear()', false],
  ])('is iterated over by %j: %s', (source, expected) => {
    expect(doesIterate(source)).toBe(expected)
  })

  it('keeps to chunks/, staging/ and the check of the format that several records may be one entry', () => {
    const knowing = sources.filter(({ text }) => text.includes("record-chunk.ts'"))
    expect(new Set(knowing.map(({ file }) => dirname(file)))).toEqual(
      new Set(['chunks', 'staging', 'check'].map(folder => `src/store/level/${folder}`)),
    )
  })
})
