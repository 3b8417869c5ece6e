import { execFile as execFileWithCallback } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { sectionOf, tableRowsOf } from './markdown.ts'

const execFile = promisify(execFileWithCallback)
const page = readFileSync('docs/architecture.md', 'utf8')
const glossary = readFileSync('docs/glossary.md', 'utf8')
const everywhere = 'errors.ts'

const rooms = [...foldersOf('src'), 'things.ts']

/** By name, the lines of each walk. */
const walks = ['A PUBLISH', 'A PUBLISH on another topic', 'A POST', 'A live message', 'A CONNECT'].map(
  name => [name, sectionOf(page, name).match(/^\d+\. .*$/gm) ?? []] as const,
)

describe('docs/architecture.md', () => {
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

  it.each([
    ['publish', 'A PUBLISH'],
    ['post', 'A POST'],
    ['live', 'A live message'],
    ['connect', 'A CONNECT'],
  ])('names files that a warm request runs: npm run walk -- %s', async (flow, name) => {
    const { stdout } = await execFile(process.execPath, ['--import', 'tsx', 'tools/walk/run.ts', flow])
    const ran = new Set(stdout.split('\n'))
    const [, steps = []] = walks.find(([heading]) => heading === name) ?? []
    expect(steps.flatMap(step => pathsIn(step)[0] ?? []).filter(file => !ran.has(file))).toEqual([])
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

  it('says where to begin for each section of the contract', () => {
    const sections = [...readFileSync('docs/contract.md', 'utf8').matchAll(/^### (\d+\.\d+) /gm)]
    const rows = [...page.matchAll(/^\|[^|]+\| ([\d., ]+) \| .*`(?:src|web)\//gm)]
    const named = new Set(rows.flatMap(([, numbers = '']) => numbers.split(', ')))
    expect(sections.map(([, number = '']) => number).filter(number => !named.has(number))).toEqual([])
  })

  it('names files that exist', () => {
    expect(filesIn(page).length).toBeGreaterThan(30)
    expect(filesIn(page).filter(file => !existsSync(file))).toEqual([])
  })
})

describe('docs/glossary.md', () => {
  it('names files that exist', () => {
    expect(filesIn(glossary).length).toBeGreaterThan(40)
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
