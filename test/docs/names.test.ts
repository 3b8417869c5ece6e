import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { environmentName, flagName, optionNames } from '../../src/server/options/options.ts'
import { lineOf, type MarkdownFile, markdownFiles } from './markdown.ts'

/** The documents name nothing that is not there. CHANGELOG.md may: it tells of what was. */
const files = markdownFiles().filter(({ path }) => path !== 'CHANGELOG.md')
const source = ['src', 'web', 'examples', 'test', 'bench', 'tools'].map(textsIn).join('\n')
const manifest = readFileSync('package.json', 'utf8')
const scripts = Object.keys(JSON.parse(manifest).scripts)
const commands = createProgram().commands

/** Names in code that are others'. */
const foreign = new Set([
  ...['--optimize-for-size'], // Node
  ...['aof_last_write_status', 'aof_delayed_fsync', 'aof_rewrite_in_progress', 'latest_fork_usec'], // Redis
  ...['max_queued_messages'], // mosquitto
  ...['reboot_timeout'], // ESPHome
  ...['readTimeout'], // Traefik
])
/** What the contract says will be. */
const [, notYet = ''] = readFileSync('docs/contract.md', 'utf8').split(/^## \d+\. Not yet so$/m)

interface Named {
  readonly place: string
  readonly name: string
}

describe('documents name', () => {
  it('commands that there are, each with options that it takes', () => {
    expect(unknown(commandLines, ({ name }) => faultOf(name) === undefined)).toEqual([])
  })

  it('no others, or this is told', () => {
    const lines = ['things make boat', 'raed boat depth', 'read boat --nope', 'serve --nope 1', '--nope']
    expect(lines.map(faultOf)).toEqual([
      'no command things make',
      'no command raed',
      'no option --nope',
      'no option --nope',
      'no option --nope',
    ])
    expect(files.flatMap(commandLines).length).toBeGreaterThan(50)
    expect(files.flatMap(optionCells).length).toBeGreaterThan(30)
  })

  it('options of the environment that there are', () => {
    const known = new Set(optionNames.map(environmentName))
    const named = everywhere(/\bTHINGWIRE_[A-Z_]+[A-Z]\b/g)
    expect(unknown(named, ({ name }) => known.has(name) || source.includes(name))).toEqual([])
  })

  it('options of the server that there are, in a column of options', () => {
    expect(unknown(optionCells, ({ name }) => optionNames.some(known => known === name))).toEqual([])
  })

  it('flags that there are', () => {
    const known = new Set([...optionNames.map(flagName), ...allFlags().map(flag => flag.slice(2))])
    const named = inCode(/^--([a-z][a-z-]+)(?=[ =]|$)/g)
    const ofBenches = [...source.matchAll(/\breadOptions\(\{(.*?)\}\)/gs)].map(([, names]) => names).join()
    const isOfScript = (flag: string) =>
      manifest.includes(flag) ||
      new RegExp(`\\b${flag.slice(2)}['"]?: \\{|'${flag.slice(2)}'`).test(source) ||
      new RegExp(`\\b${flag.slice(2)}: `).test(ofBenches)
    expect(unknown(named, ({ name }) => known.has(name.slice(2)) || isOfScript(name))).toEqual([])
  })

  it('scripts of package.json that there are', () => {
    const named = everywhere(/\bnpm (?:run )(?:--silent )?([a-z][\w:]*)/g, 1)
    expect(unknown(named, ({ name }) => scripts.includes(name))).toEqual([])
  })

  it('files that there are', () => {
    const folders = ['src', 'docs', 'test', 'config', 'examples', 'bench', 'web', 'tools']
    const named = inCode(new RegExp(`^(?:${folders.join('|')})/[\\w./*{},-]+`, 'g'))
    expect(unknown(named, ({ name }) => expanded(name).every(isThere))).toEqual([])
  })

  it('metrics that there are', () => {
    const metrics = readFileSync('docs/reference/metrics.md', 'utf8')
    const named = everywhere(/\bthingwire_[a-z_]+[a-z]\b/g)
    const isKnown = ({ name }: Named) =>
      metrics.includes(`| \`${name.replace(/_(bucket|sum|count)$/, '')}\` |`)
    expect(unknown(named, isKnown)).toEqual([])
  })

  it('reasons and names of the source that there are', () => {
    const words = new Set(source.match(/[\w$]+/g))
    const named = inCode(/^(?:[a-z]+_[a-z_]+|[a-z]+[A-Z]\w*)$/g)
    // The process's own are held to docs/reference/metrics.md by a test.
    const isKnown = ({ place, name }: Named) =>
      words.has(name) || /^(process|nodejs)_/.test(name) || isAhead(place, name)
    expect(unknown(named, isKnown)).toEqual([])
  })
})

function unknown(find: (file: MarkdownFile) => readonly Named[], isKnown: (named: Named) => boolean) {
  return files.flatMap(find).filter(named => !foreign.has(named.name) && !isKnown(named))
}

function isAhead(place: string, name: string): boolean {
  return place.startsWith('docs/contract.md:') && notYet.includes(name)
}

/** Finds in prose and blocks. @param group of the pattern that holds the name */
function everywhere(pattern: RegExp, group = 0): (file: MarkdownFile) => readonly Named[] {
  return ({ path, prose, blocks }) => {
    const texts = [{ text: prose, line: 1 }, ...blocks.map(({ text, line }) => ({ text, line }))]
    return texts.flatMap(({ text, line }) =>
      [...text.matchAll(pattern)].map(match => ({
        place: `${path}:${line + lineOf(text, match.index) - 1}`,
        name: match[group] ?? '',
      })),
    )
  }
}

/** Finds in code in the text. */
function inCode(pattern: RegExp): (file: MarkdownFile) => readonly Named[] {
  return file =>
    codeIn(file).flatMap(({ code, line }) =>
      [...code.matchAll(pattern)].map(([name]) => ({ place: `${file.path}:${line}`, name })),
    )
}

/** What stands behind `thingwire`, in code in the text and in blocks of commands. */
function commandLines(file: MarkdownFile): readonly Named[] {
  const lines = [
    ...codeIn(file).map(({ code, line }) => ({ text: code, line })),
    ...file.blocks.filter(({ language }) => language === 'sh'),
  ]
  return lines.flatMap(({ text, line }) => {
    const joined = text.replaceAll(/\\\n/g, '  ').replaceAll(/^\s*#.*$/gm, '')
    const found = joined.matchAll(/(?:^|[|;&(]|npx|do|exec|[A-Z_]+=\S*) *thingwire +([^|;&)\n#]*)/gm)
    return [...found].map(({ 1: name = '', index }) => ({
      place: `${file.path}:${line + lineOf(joined, index) - 1}`,
      name: name.trim(),
    }))
  })
}

/** @param line behind `thingwire` */
function faultOf(line: string): string | undefined {
  const words = line.split(/\s+/).filter(word => word !== '')
  const [first = '', second = ''] = words
  if (/^[<…]/.test(first)) return undefined
  const isServer = first === '' || first.startsWith('-')
  const group = isServer ? named(commands, 'serve') : named(commands, first)
  if (!group) return `no command ${first}`
  const command = group.commands.length === 0 ? group : named(group.commands, second)
  if (!command) return /^(<|-|…|$)/.test(second) ? undefined : `no command ${first} ${second}`
  const known = new Set([...flagsOf(command), '--help', '--version'])
  const flags = words.flatMap(word => /^--[a-z-]+/.exec(word) ?? [])
  const wrong = flags.find(flag => !known.has(flag))
  return wrong && `no option ${wrong}`
}

function named(commands: readonly Command[], name: string): Command | undefined {
  return commands.find(command => command.name() === name || command.aliases().includes(name))
}

function flagsOf(command: Command): readonly string[] {
  const own = command.options.flatMap(({ long }) => long ?? [])
  const takesOptionsOfServer =
    command.name() === 'serve' || command.registeredArguments.some(argument => argument.name() === 'options')
  return takesOptionsOfServer ? [...own, '--config', ...optionNames.map(name => `--${flagName(name)}`)] : own
}

function allFlags(): readonly string[] {
  return commands.flatMap(command => [command, ...command.commands]).flatMap(flagsOf)
}

/** Names in the cells of each table's column with the head `option`. */
function optionCells({ path, prose }: MarkdownFile): readonly Named[] {
  const found: Named[] = []
  let column = -1
  for (const [index, line] of prose.split('\n').entries()) {
    const cells = line.startsWith('|') ? line.split(/(?<!\\)\|/).map(cell => cell.trim()) : []
    if (cells.length === 0) column = -1
    else if (column === -1) column = cells.findIndex(cell => /^options?$/i.test(cell))
    const names = column === -1 ? [] : (cells[column] ?? '').matchAll(/`([a-z]\w*)`/g)
    for (const [, name = ''] of names) found.push({ place: `${path}:${index + 1}`, name })
  }
  return found
}

/** `a/{b,c}` is two files. */
function expanded(path: string): readonly string[] {
  const [all = '', inner = ''] = /\{([^}]*)\}/.exec(path) ?? []
  return all === '' ? [path] : inner.split(',').flatMap(part => expanded(path.replace(all, part)))
}

function isThere(path: string): boolean {
  const clean = path.replace(/[.,]$/, '')
  // What a server or an example makes.
  if (/\/data(\/|$)/.test(clean)) return true
  if (!clean.includes('*')) return existsSync(clean)
  const pattern = clean
    .replace(/[.+]/g, '\\$&')
    .replaceAll('**/', '(.*/)?')
    .replace(/(?<!\.)\*/g, '[^/]*')
  return tracked.some(file => new RegExp(`^${pattern}(/|$)`).test(file))
}

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
}).split('\n')

function textsIn(folder: string): string {
  const names = readdirSync(folder, { recursive: true }) as string[]
  const texts = names.filter(name => /\.(ts|tsx|lua|html)$/.test(name))
  return texts.map(name => readFileSync(join(folder, name), 'utf8')).join('\n')
}

it('each page creates things of other names, so that all run on one server', () => {
  const pages = files.filter(({ path }) => !path.startsWith('docs/reference/'))
  const created = pages.flatMap(({ path, blocks }) =>
    blocks.flatMap(({ text }) =>
      [...text.matchAll(/things create ([\w-]+)/g)].map(([, name]) => ({ path, name })),
    ),
  )
  const shared = created.filter(({ name, path }) =>
    created.some(other => other.name === name && other.path !== path),
  )
  expect(created.length).toBeGreaterThan(15)
  expect(shared).toEqual([])
})

/** Code in the text of a file, each piece with its line. */
function codeIn({ prose }: MarkdownFile): readonly { readonly code: string; readonly line: number }[] {
  const pieces = prose.matchAll(/(`+)(?!`)([^`]+?)\1(?!`)/g)
  return [...pieces].map(({ 2: code = '', index }) => ({
    code: code.replaceAll(/\s*\n\s*/g, ' ').replaceAll('\\|', '|'),
    line: lineOf(prose, index),
  }))
}
