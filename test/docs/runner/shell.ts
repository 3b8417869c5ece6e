import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { interrupt } from './processes.ts'

/** A bash that is told what to do line by line. Its end is that of all programs of a page. */
export type Shell = ReturnType<typeof openShell | typeof openTerminal>

interface Place {
  readonly directory: string
  /** Apart from that of the page. */
  readonly notes: string
  readonly environment: NodeJS.ProcessEnv
}

/** One whose programs say into files, each block into its own. */
export function openShell({ directory, environment }: Place) {
  // By lines, so that what a program says is heard when it says it.
  const child = spawn('stdbuf', ['-oL', 'bash', '--norc'], {
    cwd: directory,
    env: environment,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  // A shell that `exit` has ended.
  child.stdin.on('error', () => {})
  const tell = (lines: readonly string[]) => void child.stdin.write(`${lines.join('\n')}\n`)
  // As where somebody types, a pipeline is a process group.
  tell(['set -m'])
  return {
    /** Whether programs say into it, in the place of files. */
    isTerminal: false,
    tell,
    sayInto: (_file: string) => {},
    /** Ctrl-C. */
    interrupt: () => interrupt(child.pid ?? 0),
    /** Undefined while it runs. */
    get exitStatus() {
      return statusOf(child)
    },
  }
}

/**
 * One in a terminal, where a program is as somebody sees it who runs it. The commands come through a pipe beside it, so that
 * it has no prompt and no echo.
 */
export function openTerminal({ directory, notes, environment }: Place) {
  const pipe = join(notes, 'commands')
  execFileSync('mkfifo', [pipe])
  const commands = openSync(pipe, 'r+')
  const child = spawn('script', ['-qefc', `bash --norc -m '${pipe}'`, '/dev/null'], {
    cwd: directory,
    env: { ...environment, SHELL: '/bin/bash', TERM: 'dumb' },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  child.once('exit', () => closeSync(commands))
  child.stdin.on('error', () => {})
  let file: string | undefined
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    if (file !== undefined) appendFileSync(file, part)
  })
  const tell = (lines: readonly string[]) => {
    if (statusOf(child) === undefined) writeSync(commands, `${lines.join('\n')}\n`)
  }
  // A bash that nobody types into would end with a program that Ctrl-C has ended.
  tell(['trap : INT', 'stty -echo cols 200 rows 50'])
  return {
    isTerminal: true,
    tell,
    /** What programs say from now on is added to this file. */
    sayInto: (next: string) => {
      file = next
    },
    interrupt: async () => void child.stdin.write('\x03'),
    get exitStatus() {
      return statusOf(child)
    },
  }
}

function statusOf({ exitCode, signalCode }: ChildProcess): number | undefined {
  return exitCode ?? (signalCode === null ? undefined : 1)
}

/** What a terminal shows of what was said into it: no colours, and of a line that is drawn over the last state. */
export function shownText(said: string): string {
  const lines = said.replaceAll('\r\n', '\n').split('\n')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that terminals understand
  const plain = lines.map(line => line.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replace(/\r+$/, ''))
  return plain.map(line => line.slice(line.lastIndexOf('\r') + 1)).join('\n')
}
