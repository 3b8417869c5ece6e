/**
 * A page as the runner reads it: its fenced blocks with the comments that steer it. CONTRIBUTING.md lists the comments.
 *
 * A ```sh block is run. A block without a language directly behind one is its answer. A comment stands directly above its
 * block; `place`, `begins with` and `needs` stand above the first block of a section.
 */
export interface Page {
  /** From the top of the repository. */
  readonly path: string
  readonly sections: readonly Section[]
}

/** One clean directory, and what is done in it. */
export interface Section {
  /** What the directory holds: nothing, with `thingwire` on PATH; the packed tarball; the tracked files. */
  readonly place: Place
  readonly beginsWithServer: boolean
  /** Debian packages. */
  readonly needs: readonly string[]
  readonly steps: readonly Step[]
}

export const places = ['package', 'tarball', 'repository'] as const
export type Place = (typeof places)[number]

/** A block that is run or written, or that cannot run in a test; or what a terminal shows without being given a command. */
export type Step =
  | RunStep
  | ({ readonly kind: 'answer'; readonly terminal: string } & Answer)
  | { readonly kind: 'file'; readonly line: number; readonly path: string; readonly content: string }
  | { readonly kind: 'left'; readonly line: number; readonly reason: string }

export interface RunStep {
  readonly kind: 'run'
  readonly line: number
  readonly commands: string
  /** Empty: the shell of the section, in which a block has to end. */
  readonly terminal: string
  readonly exitStatus: number
  readonly answer?: Answer
}

export interface Answer {
  readonly line: number
  readonly lines: readonly string[]
}

interface Block {
  /** Of the opening fence, from 1. */
  readonly line: number
  readonly language: string
  readonly text: string
}

const ofSections = new Set(['place', 'begins with', 'needs'])
const ofBlocks = new Set(['terminal', 'not run', 'file', 'exits with'])

/** @throws Error with path and line where a comment or a block is none that the runner knows */
export function parsePage(path: string, markdown: string): Page {
  const sections: { place: Place; beginsWithServer: boolean; needs: string[]; steps: Step[] }[] = []
  let comments = new Map<string, string>()
  let paragraph = ''
  let isBehindBlock = false

  const fail = (line: number, message: string): never => {
    throw new Error(`${path}:${line}: ${message}`)
  }
  const begin = (place: Place) => {
    const section = { place, beginsWithServer: false, needs: [] as string[], steps: [] as Step[] }
    sections.push(section)
    return section
  }
  let section = begin(path.startsWith('docs/') || path === 'SECURITY.md' ? 'package' : 'repository')

  const takeProse = (line: number, text: string) => {
    if (comments.size > 0) fail(line, 'a comment has to stand directly above its block')
    paragraph = paragraph.endsWith('\n\n') ? text : `${paragraph}\n${text}`
    isBehindBlock = false
  }

  const takeComment = (line: number, text: string) => {
    const [, name = '', value = ''] = /^<!-- ([a-z ]+): (.+) -->$/.exec(text) ?? []
    if (ofSections.has(name)) steerSection(line, name, value)
    else if (ofBlocks.has(name)) comments.set(name, value)
    else fail(line, `unknown comment ${text}`)
  }

  const steerSection = (line: number, name: string, value: string) => {
    if (name === 'place') {
      const place =
        places.find(known => known === value) ?? fail(line, `a place is one of ${places.join(', ')}`)
      isBehindBlock = false
      if (section.steps.length > 0) section = begin(place)
      else section.place = place
      return
    }
    if (section.steps.length > 0) fail(line, `${name} has to stand above the first block`)
    if (name === 'needs') section.needs.push(...value.split(/[ ,]+/))
    else if (value === 'a server') section.beginsWithServer = true
    else fail(line, 'a section begins with: a server')
  }

  const takeBlock = (block: Block) => {
    const { line, language } = block
    const { steps } = section
    if (language === 'sh') steps.push(commandsIn(block))
    else if (comments.has('file')) steps.push(fileIn(block))
    else if (language === '' && comments.has('terminal')) {
      steps.push({ kind: 'answer', terminal: comments.get('terminal') ?? '', ...answerIn(block) })
    } else if (comments.size > 0) {
      fail(line, `a comment steers a block that is not run: ${[...comments.keys()]}`)
    } else if (language === '' && isBehindBlock) {
      const step = steps.pop()
      if (step?.kind !== 'run') return fail(line, 'an answer without commands')
      steps.push({ ...step, answer: answerIn(block) })
    }
    isBehindBlock = language === 'sh' && steps.at(-1)?.kind === 'run'
    comments = new Map()
    paragraph = ''
  }

  const commandsIn = ({ line, text }: Block): Step => {
    const reason = comments.get('not run')
    if (reason !== undefined) return { kind: 'left', line, reason }
    if (comments.has('file')) fail(line, 'commands are no file: use a block of another language')
    const exitStatus = Number(comments.get('exits with') ?? 0)
    if (!Number.isInteger(exitStatus)) fail(line, 'exits with: a whole number')
    return { kind: 'run', line, commands: text, terminal: comments.get('terminal') ?? '', exitStatus }
  }

  const fileIn = ({ line, text }: Block): Step => {
    const file = comments.get('file') ?? ''
    if (/^[/~]|\.\./.test(file)) fail(line, `${file} is outside of the directory of the page`)
    const name = file.slice(file.lastIndexOf('/') + 1)
    if (!paragraph.includes(name)) fail(line, `the text above does not name ${name}`)
    return { kind: 'file', line, path: file, content: text }
  }

  const lines = markdown.split('\n')
  for (let index = 0; index < lines.length; index++) {
    const text = lines[index] ?? ''
    const fence = /^( *)(```+)\s*(\S*)/.exec(text)
    if (fence) {
      const [, indent = '', ticks = '', language = ''] = fence
      const end = lines.findIndex((line, at) => at > index && line.trim() === ticks)
      if (end === -1) fail(index + 1, 'the block has no end')
      const content = lines.slice(index + 1, end).map(line => line.replace(new RegExp(`^${indent}`), ''))
      takeBlock({ line: index + 1, language, text: content.map(line => `${line}\n`).join('') })
      index = end
    } else if (/^\s*<!--/.test(text)) takeComment(index + 1, text.trim())
    else if (text.trim() !== '') takeProse(index + 1, text)
    else if (comments.size === 0) paragraph += '\n'
  }
  if (comments.size > 0) fail(lines.length, 'a comment has no block below it')
  for (const { steps } of sections) {
    const last = steps.at(-1)
    const isShown = last?.kind !== 'run' || last.terminal === '' || last.answer !== undefined
    if (!isShown) fail(last.line, 'nothing shows what the last terminal of a section says')
  }
  return { path, sections: sections.filter(({ steps }) => steps.length > 0) }
}

function answerIn({ line, text }: Block): Answer {
  return { line, lines: text.split('\n').slice(0, -1) }
}
