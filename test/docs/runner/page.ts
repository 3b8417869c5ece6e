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

export type Step = RunStep | AnswerStep | FileStep | LeftStep

export interface RunStep {
  readonly kind: 'run'
  readonly line: number
  readonly commands: string
  /** Empty: the shell of the section, in which a block has to end. */
  readonly terminal: string
  readonly exitStatus: number
  readonly answer?: Answer
}

/** What a terminal shows without being given a command. */
export interface AnswerStep extends Answer {
  readonly kind: 'answer'
  readonly terminal: string
}

export interface FileStep {
  readonly kind: 'file'
  readonly line: number
  readonly path: string
  readonly content: string
}

/** A block that cannot run in a test. */
export interface LeftStep {
  readonly kind: 'left'
  readonly line: number
  readonly commands: string
  readonly reason: string
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
  return new PageParser(path).parse(markdown)
}

class PageParser {
  readonly #path: string
  readonly #sections: { place: Place; beginsWithServer: boolean; needs: string[]; steps: Step[] }[] = []
  #comments = new Map<string, string>()
  #paragraph = ''
  #isBehindBlock = false

  constructor(path: string) {
    this.#path = path
    const isOfPackage = path.startsWith('docs/') || path === 'SECURITY.md'
    this.#begin(isOfPackage ? 'package' : 'repository')
  }

  parse(markdown: string): Page {
    const lines = markdown.split('\n')
    for (let index = 0; index < lines.length; index++) {
      const text = lines[index] ?? ''
      const fence = /^( *)(```+)\s*(\S*)/.exec(text)
      if (fence) {
        const [, indent = '', ticks = '', language = ''] = fence
        const end = lines.findIndex((line, at) => at > index && line.trim() === ticks)
        if (end === -1) throw this.#error(index + 1, 'the block has no end')
        const content = lines.slice(index + 1, end).map(line => line.replace(new RegExp(`^${indent}`), ''))
        this.#take({ line: index + 1, language, text: content.map(line => `${line}\n`).join('') })
        index = end
      } else if (/^\s*<!--/.test(text)) this.#comment(index + 1, text.trim())
      else if (text.trim() !== '') this.#prose(index + 1, text)
      else if (this.#comments.size === 0) this.#paragraph += '\n'
    }
    if (this.#comments.size > 0) throw this.#error(lines.length, 'a comment has no block below it')
    for (const { steps } of this.#sections) {
      const last = steps[steps.length - 1]
      const isShown = last?.kind !== 'run' || last.terminal === '' || last.answer !== undefined
      if (!isShown) throw this.#error(last.line, 'nothing shows what the last terminal of a section says')
    }
    return { path: this.#path, sections: this.#sections.filter(({ steps }) => steps.length > 0) }
  }

  get #section() {
    return this.#sections[this.#sections.length - 1] ?? this.#begin('package')
  }

  #begin(place: Place) {
    const section = { place, beginsWithServer: false, needs: [] as string[], steps: [] as Step[] }
    this.#sections.push(section)
    return section
  }

  #prose(line: number, text: string): void {
    if (this.#comments.size > 0) throw this.#error(line, 'a comment has to stand directly above its block')
    this.#paragraph = this.#paragraph.endsWith('\n\n') ? text : `${this.#paragraph}\n${text}`
    this.#isBehindBlock = false
  }

  #comment(line: number, text: string): void {
    const [, name = '', value = ''] = /^<!-- ([a-z ]+): (.+) -->$/.exec(text) ?? []
    if (ofSections.has(name)) this.#steerSection(line, name, value)
    else if (ofBlocks.has(name)) this.#comments.set(name, value)
    else throw this.#error(line, `unknown comment ${text}`)
  }

  #steerSection(line: number, name: string, value: string): void {
    if (name === 'place') {
      const place = places.find(known => known === value)
      if (!place) throw this.#error(line, `a place is one of ${places.join(', ')}`)
      this.#isBehindBlock = false
      if (this.#section.steps.length > 0) this.#begin(place)
      else this.#section.place = place
      return
    }
    if (this.#section.steps.length > 0) throw this.#error(line, `${name} has to stand above the first block`)
    if (name === 'needs') this.#section.needs.push(...value.split(/[ ,]+/))
    else if (value === 'a server') this.#section.beginsWithServer = true
    else throw this.#error(line, 'a section begins with: a server')
  }

  #take(block: Block): void {
    const comments = this.#comments
    this.#comments = new Map()
    const { steps } = this.#section
    if (block.language === 'sh') steps.push(this.#commands(block, comments))
    else if (comments.has('file')) steps.push(this.#file(block, comments.get('file') ?? ''))
    else if (block.language === '' && comments.has('terminal')) {
      steps.push({ kind: 'answer', terminal: comments.get('terminal') ?? '', ...answerIn(block) })
    } else if (comments.size > 0) {
      throw this.#error(block.line, `a comment steers a block that is not run: ${[...comments.keys()]}`)
    } else if (block.language === '' && this.#isBehindBlock) {
      const step = steps.pop()
      if (step?.kind !== 'run') throw this.#error(block.line, 'an answer without commands')
      steps.push({ ...step, answer: answerIn(block) })
    }
    const last = steps[steps.length - 1]
    this.#isBehindBlock = block.language === 'sh' && last?.kind === 'run'
    this.#paragraph = ''
  }

  #commands({ line, text }: Block, comments: ReadonlyMap<string, string>): RunStep | LeftStep {
    const reason = comments.get('not run')
    if (reason !== undefined) return { kind: 'left', line, commands: text, reason }
    if (comments.has('file')) throw this.#error(line, 'commands are no file: use a block of another language')
    const exitStatus = Number(comments.get('exits with') ?? 0)
    if (!Number.isInteger(exitStatus)) throw this.#error(line, 'exits with: a whole number')
    return { kind: 'run', line, commands: text, terminal: comments.get('terminal') ?? '', exitStatus }
  }

  #file({ line, text }: Block, path: string): FileStep {
    const isInside = !/^[/~]|\.\./.test(path)
    if (!isInside) throw this.#error(line, `${path} is outside of the directory of the page`)
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (!this.#paragraph.includes(name)) throw this.#error(line, `the text above does not name ${name}`)
    return { kind: 'file', line, path, content: text }
  }

  #error(line: number, message: string): Error {
    return new Error(`${this.#path}:${line}: ${message}`)
  }
}

function answerIn({ line, text }: Block): Answer {
  return { line, lines: text.split('\n').slice(0, -1) }
}
