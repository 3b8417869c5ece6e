import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isFree } from '../../helpers/redis-server.ts'
import { eventually } from '../../helpers/waiting.ts'
import type { Answer, RunStep, Section } from './page.ts'
import { endAll, pageVariable } from './processes.ts'
import type { Directory, Stage } from './stage.ts'
import { Terminal } from './terminal.ts'

/** Ports of a server that is given none. */
const ports = [8080, 1883]

/** How long is waited, milliseconds. */
const deadlines = {
  /** For a block to end. One that installs or builds takes a minute where it is alone. */
  block: 270_000,
  /** For what a program says that was started in another terminal. It may be installed or built first. */
  program: 150_000,
  /** For what a running program says. */
  answer: 30_000,
  /** For a program in another terminal of which the page shows no answer. */
  start: 2_000,
}

/** Names of the things that a server has before a page begins. */
const others = ['boat 2', 'greenhouse 2', 'a']

/** The name of the terminal in which a section begins with a server. */
const serverTerminal = 'server'

/**
 * Runs a section of a page from top to bottom in a clean directory, and ends everything that it has started.
 *
 * @throws Error with path and line of the block that failed, what it had to answer, and what it did
 */
export async function runSection(path: string, section: Section, stage: Stage): Promise<void> {
  await findPackages(path, section.needs)
  for (const port of ports) await findFree(port)
  const directory = await stage.directory(section.place)
  const id = `${process.pid}-${Date.now()}`
  try {
    const run = new SectionRun(path, directory, id)
    if (section.beginsWithServer) await run.startServer(section.place === 'repository')
    for (const step of section.steps) {
      if (step.kind === 'file') await run.write(step.path, step.content)
      if (step.kind === 'run') await run.type(step)
      if (step.kind === 'answer') await run.expect(step, step.terminal)
    }
  } finally {
    await endAll(id, directory.path)
    await rm(dirname(directory.path), { recursive: true, force: true })
  }
}

class SectionRun {
  readonly #page: string
  readonly #directory: Directory
  readonly #run: string
  readonly #terminals = new Map<string, Terminal>()

  constructor(page: string, directory: Directory, run: string) {
    this.#page = page
    this.#directory = directory
    this.#run = run
  }

  async startServer(isRepository: boolean): Promise<void> {
    const step = { kind: 'run', line: 1, terminal: '', exitStatus: 0 } as const
    if (isRepository) await this.type({ ...step, commands: 'npm ci && npm run build\n' })
    const answer = { line: 1, lines: ['…', 'Thingwire is ready at …', '…'] }
    const commands = isRepository ? 'npm start\n' : 'thingwire serve\n'
    await this.type({ ...step, commands, terminal: serverTerminal, answer })
    if (isRepository) return
    // Who follows a page has things already, often of the same names.
    for (const name of others) {
      const made = `thingwire things create '${name}' > other.txt && thingwire write '${name}' other=1 > other.txt`
      await this.type({ ...step, commands: `${made}\n` })
    }
  }

  async write(path: string, content: string): Promise<void> {
    const file = join(this.#directory.path, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }

  async type(step: RunStep): Promise<void> {
    const { commands, exitStatus, answer } = step
    const terminal = await this.#terminal(step.terminal)
    const isOwnShell = step.terminal === ''
    try {
      await terminal.type(commands, isOwnShell && exitStatus === 0)
    } catch (error) {
      throw await this.#error(step, (error as Error).message)
    }
    if (!isOwnShell) {
      if (answer) return await this.expect(answer, step.terminal, step)
      const ended = await terminal.ended(deadlines.start)
      if (ended && ended.status !== exitStatus) throw await this.#error(step, `ends with ${ended.status}`)
      return
    }
    const ended = await terminal.ended(deadlines.block)
    if (!ended) throw await this.#error(step, `has not ended after ${deadlines.block / 1000} s`)
    if (ended.status !== exitStatus) {
      const failed = (await terminal.failedCommand()) ?? 'the block'
      throw await this.#error(step, `ended with ${ended.status}, not ${exitStatus}: ${failed}`)
    }
    if (!answer) return
    const hasCome = await terminal.answers(answer.lines, {
      isOrdered: !ended.hasJobs,
      withErrors: exitStatus !== 0,
      deadline: deadlines.answer,
    })
    if (!hasCome) throw await this.#error(step, `does not answer as line ${answer.line} shows`, answer)
  }

  /** @param step whose answer it is; none where the terminal says it without being asked */
  async expect(answer: Answer, name: string, step?: RunStep): Promise<void> {
    const known = this.#terminals.get(name)
    if (!known) throw new Error(`${this.#page}:${answer.line}: nothing was run in the terminal ${name}`)
    const how = { isOrdered: true, withErrors: false }
    const until = Date.now() + (step ? deadlines.program : deadlines.answer)
    do {
      const isOver = (await known.ended(0)) !== undefined
      if (await known.answers(answer.lines, { ...how, deadline: isOver ? 0 : 1000 })) return
      if (isOver) break
    } while (Date.now() < until)
    const asked = step ?? { line: answer.line, terminal: name, commands: '' }
    const ended = await known.ended(0)
    const why = ended ? `ended with ${ended.status}, and does not show` : 'does not show'
    throw await this.#error(asked, `${why} what line ${answer.line} shows`, answer)
  }

  async #terminal(name: string): Promise<Terminal> {
    const known = this.#terminals.get(name)
    if (known) return known
    const notes = join(dirname(this.#directory.path), `terminal-${this.#terminals.size}`)
    await mkdir(notes)
    const environment = { ...this.#directory.environment, [pageVariable]: this.#run }
    const terminal = new Terminal(this.#directory.path, notes, environment, name !== '')
    this.#terminals.set(name, terminal)
    return terminal
  }

  async #error(
    { line, terminal, commands }: { line: number; terminal: string; commands: string },
    what: string,
    answer?: Answer,
  ): Promise<Error> {
    const parts = [`${this.#page}:${line}: ${what}`]
    const add = (title: string, text: string) => {
      if (text.trim() !== '') parts.push(`${title}:\n${text.trimEnd().replace(/^/gm, '  ')}`)
    }
    add('commands', commands)
    if (answer) add('shown in the page', answer.lines.join('\n'))
    const said = (await this.#terminals.get(terminal)?.said()) ?? { output: '', errors: '' }
    add('said', said.output || '(nothing)')
    add('said on stderr', said.errors)
    for (const [name, other] of this.#terminals) {
      if (name === terminal) continue
      const { output, errors } = await other.said()
      add(`said in ${name === '' ? 'the shell' : `the terminal ${name}`}`, output + errors)
    }
    return new Error(parts.join('\n\n'))
  }
}

/** @throws Error that names the packages which are not installed; elsewhere than on Debian nothing can be said */
async function findPackages(path: string, needs: readonly string[]): Promise<void> {
  const missing: string[] = []
  for (const name of needs) {
    const { stdout } = await promisify(execFile)('dpkg', ['--status', name]).catch(
      (error: NodeJS.ErrnoException) => ({ stdout: error.code === 'ENOENT' ? 'ok installed' : '' }),
    )
    if (!stdout.includes('ok installed')) missing.push(name)
  }
  if (missing.length > 0)
    throw new Error(`${path} needs ${missing.join(' ')}: apt install ${missing.join(' ')}`)
}

/** @throws Error if something listens at the port, or still does after 2 s */
async function findFree(port: number): Promise<void> {
  if (await eventually(() => isFree(port), 2_000)) return
  throw new Error(`port ${port} is taken; pages are run on the ports that they name: end what listens there`)
}
