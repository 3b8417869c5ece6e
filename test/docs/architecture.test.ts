import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sectionOf, tableRowsOf } from './markdown.ts'

const page = readFileSync('docs/architecture.md', 'utf8')
const glossary = readFileSync('docs/glossary.md', 'utf8')
const everywhere = 'errors.ts'

interface Override {
  readonly includes: readonly string[]
  readonly linter: {
    readonly rules: {
      readonly style: {
        readonly noRestrictedImports: {
          readonly options: { readonly patterns: readonly [{ readonly group: readonly string[] }] }
        }
      }
    }
  }
}

const { overrides } = JSON.parse(readFileSync('biome.json', 'utf8')) as { overrides: readonly Override[] }
const rooms = [...foldersOf('src'), 'things.ts']
/** By room, what the page says that it may import. */
const allowed = new Map(
  tableRowsOf(sectionOf(page, 'Who may import whom')).map(([room = '', imports = '']) => {
    const named = namesIn(imports)
    const others = rooms.filter(other => other !== 'things.ts' || imports.startsWith('everything but'))
    const may = imports.startsWith('everything but') ? others.filter(other => !named.includes(other)) : named
    return [room.replaceAll('`', ''), may.filter(other => `\`${other}\`` !== room).sort()]
  }),
)

/** By name, the lines of each walk. */
const walks = ['A PUBLISH', 'A PUBLISH on another topic', 'A POST', 'A live message'].map(
  name => [name, sectionOf(page, name).match(/^\d+\. .*$/gm) ?? []] as const,
)

describe('docs/architecture.md', () => {
  it('says who may import whom as biome.json does', () => {
    const byBiome = overrides.flatMap(({ includes: [files = ''], linter }) => {
      const room = /^src\/([\w-]+)\/\*\*$/.exec(files)?.[1]
      if (room === undefined) return []
      const { group } = linter.rules.style.noRestrictedImports.options.patterns[0]
      const may = rooms.filter(other => other !== room && !forbids(group, other))
      return [[room, may.sort()] as const]
    })
    expect(Object.fromEntries(allowed)).toEqual(Object.fromEntries(byBiome))
  })

  it('says what the source does, however deep a file lies', () => {
    const against = [...allowed].flatMap(([room, may]) => {
      const own = [room, everywhere, ...may]
      return importsOf(room)
        .filter(({ to }) => !own.includes(to))
        .map(({ file, to }) => `${file} → ${to}`)
    })
    expect(allowed.size).toBeGreaterThan(8)
    expect(against).toEqual([])
  })

  it.each(walks)('walks %s through files that lead to one another', (_, steps) => {
    expect(steps.length).toBeGreaterThan(3)
    expect(steps.length).toBeLessThanOrEqual(15)
    expect(steps.flatMap(pathsIn).filter(path => !existsSync(path))).toEqual([])
    const lost = steps.filter((step, index) => {
      const [file = ''] = pathsIn(step)
      const [before = ''] = pathsIn(steps[index - 1] ?? '')
      return index > 0 && !imports(before, file) && !crossesPort(step, before, file)
    })
    expect(lost).toEqual([])
  })

  it('has files call those that it names in passing', () => {
    const lost = walks.flatMap(([, steps]) => {
      return steps.flatMap(step => {
        const [file = '', ...called] = pathsIn(step.replace(/Port .*/, ''))
        return called.filter(path => !imports(file, path)).map(path => `${file} → ${path}`)
      })
    })
    expect(lost).toEqual([])
  })

  it('names every room', () => {
    const named = tableRowsOf(sectionOf(page, 'Rooms')).map(([room = '']) => room.replaceAll('`', ''))
    const folders = ['web', 'config', 'test', 'bench', 'examples']
    const there = [...rooms, everywhere].map(room => `src/${room}`)
    expect(named.filter(room => !existsSync(room))).toEqual([])
    expect([...there, ...folders].filter(room => !named.includes(room))).toEqual([])
  })

  it('names files that exist', () => {
    expect(filesIn(page).length).toBeGreaterThan(30)
    expect(filesIn(page).filter(file => !existsSync(file))).toEqual([])
  })
})

describe('docs/glossary.md', () => {
  it('names files that exist', () => {
    expect(filesIn(glossary).length).toBeGreaterThan(80)
    expect(filesIn(glossary).filter(file => !existsSync(file))).toEqual([])
  })

  it('says each word once, in the order of the alphabet', () => {
    const words = glossary.split('\n## ').slice(1)
    const inOrder = words.map(section => tableRowsOf(section).map(([word = '']) => word.toLowerCase()))
    for (const section of inOrder) expect(section).toEqual([...new Set(section)].sort())
    const all = inOrder.flat()
    expect(all.filter((word, place) => all.indexOf(word) !== place)).toEqual([])
  })
})

function filesIn(text: string): string[] {
  const files = text.matchAll(/`((?:src|test|docs|config|examples|web|bench)\/[\w./-]+)`/g)
  return [...files].map(([, file = '']) => file)
}

function foldersOf(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true })
  return entries.filter(entry => entry.isDirectory()).map(({ name }) => name)
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

/** Whether files of a room may not import another one, from its top or from a folder in it. */
function forbids(group: readonly string[], room: string): boolean {
  const target = room.endsWith('.ts') ? room : `${room}/**`
  return group.includes(`../${target}`) && group.includes(`../../${target}`)
}

/** What the files of a room import of other rooms. */
function importsOf(room: string): { file: string; to: string }[] {
  return readdirSync(`src/${room}`, { withFileTypes: true, recursive: true }).flatMap(entry => {
    if (!entry.name.endsWith('.ts')) return []
    const file = join(entry.parentPath, entry.name)
    const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import) ?\(?'(\.[^']+)'/g)
    return [...imports].map(([, path = '']) => {
      const [to = ''] = relative('src', join(dirname(file), path)).split('/')
      return { file, to }
    })
  })
}

function pathsIn(line: string): string[] {
  return [...line.matchAll(/`(src\/[\w./-]+\.ts)`/g)].map(([, path = '']) => path)
}

/** Directly, or by the index of a room. */
function imports(file: string, other: string): boolean {
  const imported = specifiersOf(file).map(specifier => join(dirname(file), specifier))
  return imported.some(
    next => next === other || specifiersOf(next).some(specifier => join(dirname(next), specifier) === other),
  )
}

/** Whether the line names a port that is declared where it says, and a file that knows an end of it. */
function crossesPort(line: string, before: string, file: string): boolean {
  const [, port = '', declared = '', wired = ''] =
    /Port `(\w+)` of `([^`]+)`, wired in `([^`]+)`/.exec(line) ?? []
  const isDeclared = new RegExp(`(interface|type) ${port}\\b`).test(read(declared))
  return isDeclared && [before, file].some(end => wired === end || imports(wired, end))
}

function specifiersOf(file: string): string[] {
  return [...read(file).matchAll(/from '(\.[^']+)'/g)].map(([, specifier = '']) => specifier)
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
