import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAnswer } from './answer.ts'
import { openShell, openTerminal, type Shell, shownText } from './shell.ts'

/** How long a program is waited for that is stopped with Ctrl-C, milliseconds. */
const stopDeadline = 20_000

interface Entry {
  /** Path, without its ending, of the files that hold the commands, their output and their status. */
  readonly files: string
  /** Characters of the output that an answer has covered already. */
  shown: number
}

/**
 * A bash into which a page's commands are typed, block by block. Each block's output goes into a file of its own, so that
 * the commands' own is told apart from that of programs which earlier blocks have left in the background.
 */
export class Terminal {
  readonly #shell: Shell
  readonly #notes: string
  readonly #entries: Entry[] = []

  /** @param notes a directory apart from that of the page @param isTerminal whether it is no shell, but a terminal */
  constructor(directory: string, notes: string, environment: NodeJS.ProcessEnv, isTerminal: boolean) {
    this.#notes = notes
    this.#shell = (isTerminal ? openTerminal : openShell)({ directory, notes, environment })
  }

  /** Types commands, after Ctrl-C if those before have not ended. @throws Error if they do not end then */
  async type(commands: string, isStrict: boolean): Promise<void> {
    await this.#stop()
    const files = join(this.#notes, String(this.#entries.length + 1))
    await writeFile(`${files}.sh`, commands)
    const [out, failed, status] = ['out', 'failed', 'status'].map(ending => quoted(`${files}.${ending}`))
    const typed = `eval "$(<${quoted(`${files}.sh`)})"`
    const ended = `echo "$?" "$(jobs -rp | head -1)" >${status}`
    this.#entries.push({ files, shown: 0 })
    this.#shell.sayInto(`${files}.out`)
    if (this.#shell.isTerminal) return this.#shell.tell([typed, ended])
    this.#shell.tell([
      `exec >>${out} 2>>${quoted(`${files}.err`)}`,
      // Where somebody types, an answer without an end of line is followed by the prompt on a line of its own. `&& echo` ends it.
      `trap '[ "$BASH_COMMAND" = echo ] || [ -z "$(tail -c 1 ${out})" ] || echo >>${out}' DEBUG`,
      isStrict ? `trap 'echo "$? $BASH_COMMAND" >${failed}; exit' ERR` : 'trap - ERR',
      `${typed} </dev/null`,
      ended,
    ])
  }

  /** @returns undefined if the commands have not ended within `deadline` milliseconds; `hasJobs`: they left a program in the background */
  async ended(deadline: number): Promise<{ status: number; hasJobs: boolean } | undefined> {
    const files = this.#last?.files
    const until = Date.now() + deadline
    do {
      const [, status, jobs] = /^(\d+) (.*)\n/.exec(await text(`${files}.status`)) ?? []
      if (status !== undefined) return { status: Number(status), hasJobs: jobs !== '' }
      const [, failed] = /^(\d+) .*\n/s.exec(await text(`${files}.failed`)) ?? []
      if (failed !== undefined) return { status: Number(failed), hasJobs: false }
      if (this.#shell.exitStatus !== undefined) return { status: this.#shell.exitStatus, hasJobs: false }
      await sleep(20)
    } while (Date.now() < until)
    return undefined
  }

  /** The command of the last block that failed. */
  async failedCommand(): Promise<string | undefined> {
    const [, command] = /^\d+ (.*)\n$/s.exec(await text(`${this.#last?.files}.failed`)) ?? []
    return command
  }

  /**
   * @param withErrors whether what was said on stderr belongs to the answer
   * @returns whether it came within `deadline` milliseconds
   */
  async answers(
    shown: readonly string[],
    { isOrdered, withErrors, deadline }: { isOrdered: boolean; withErrors: boolean; deadline: number },
  ): Promise<boolean> {
    const until = Date.now() + deadline
    for (;;) {
      const news = await this.#news()
      const errors = withErrors ? await text(`${this.#last?.files}.err`) : ''
      const own = linesOf((news.at(-1) ?? '') + errors)
      if (isAnswer(shown, own, news.slice(0, -1).flatMap(linesOf), isOrdered)) {
        for (const [index, entry] of this.#entries.entries()) entry.shown += news[index]?.length ?? 0
        return true
      }
      if (Date.now() > until) return false
      await sleep(50)
    }
  }

  /** What was said since the last answer, for people. */
  async said(): Promise<{ readonly output: string; readonly errors: string }> {
    const news = await this.#news()
    return { output: news.join(''), errors: await text(`${this.#last?.files}.err`) }
  }

  get #last(): Entry | undefined {
    return this.#entries.at(-1)
  }

  /** What each block has said since the last answer. */
  #news(): Promise<readonly string[]> {
    const read = async ({ files, shown }: Entry) => {
      const said = await text(`${files}.out`)
      return (this.#shell.isTerminal ? shownText(said) : said).slice(shown)
    }
    return Promise.all(this.#entries.map(read))
  }

  async #stop(): Promise<void> {
    if (!this.#last || (await this.ended(0))) return
    await this.#shell.interrupt()
    if (!(await this.ended(stopDeadline)))
      throw new Error('what runs in this terminal does not end at Ctrl-C')
  }
}

function text(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}

/** Without a last line that is not complete only for the moment: what has no end of line yet counts as said. */
function linesOf(output: string): readonly string[] {
  return output === '' ? [] : output.replace(/\n$/, '').split('\n')
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`
}
