import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The tarball of this tree, and an empty directory in which it was installed as a user installs it. */
export interface Packed {
  readonly tarball: string
  /** Bytes of it. */
  readonly size: number
  /** Paths in the tarball. */
  readonly files: readonly string[]
  readonly directory: string
  /** What `npm install` printed, stdout and stderr. */
  readonly said: string
  remove(): Promise<void>
}

/** @throws Error if `npm pack` or `npm install` fails */
export async function packAndInstall(): Promise<Packed> {
  const parent = await mkdtemp(join(tmpdir(), 'thingwire-package-'))
  // `dist` is fresh (test/helpers/built.ts); `prepack` would make it again below other tests.
  const options = ['pack', '--ignore-scripts', '--json', '--pack-destination', parent]
  const packed = await run('npm', options, { env: userEnvironment(), maxBuffer: 2 ** 26 })
  const [{ filename, size, files }] = JSON.parse(packed.stdout) as [
    { filename: string; size: number; files: readonly { path: string }[] },
  ]
  const tarball = join(parent, filename)
  const directory = join(parent, 'empty')
  await mkdir(directory)
  const { stdout, stderr } = await run('npm', ['install', tarball], {
    cwd: directory,
    env: userEnvironment(),
  })
  return {
    tarball,
    size,
    files: files.map(({ path }) => path),
    directory,
    said: stdout + stderr,
    remove: () => rm(parent, { recursive: true, force: true }),
  }
}

/** A server that was started by a command line as a user types it, in a process group of its own. */
export class CommandLine {
  output = ''
  readonly exited: Promise<number | null>
  readonly #child: ChildProcess

  constructor(line: string, options: { cwd: string; env?: NodeJS.ProcessEnv }) {
    const env = { ...userEnvironment(), ...options.env }
    this.#child = spawn('bash', ['-c', line], { ...options, env, detached: true })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => {
        this.output += part
      })
    this.exited = once(this.#child, 'close').then(([code]) => code)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** @returns the address of its HTTP door @throws Error with the output if it ends before */
  async ready(): Promise<string> {
    for (;;) {
      const [, url] = /^Thingwire is ready at (\S+)$/m.exec(this.output) ?? []
      if (url) return url
      const next = once(this.#child.stdout as NodeJS.ReadableStream, 'data')
      const ended = this.exited.then(() => Promise.reject(new Error(`it ended: ${this.output}`)))
      await Promise.race([next, ended])
    }
  }

  /** Of the whole group, as Ctrl-C in a terminal. */
  signal(name: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/** That of a user's shell: nothing of `npm run` and of the test runner, and the Node that runs the tests. */
function userEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(THINGWIRE_|npm_|VITEST|NODE_ENV$|NODE_OPTIONS$)/
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name))
  const path = (process.env.PATH ?? '').split(delimiter).filter(part => !part.includes('node_modules'))
  return {
    ...Object.fromEntries(inherited),
    PATH: [dirname(process.execPath), ...path].join(delimiter),
    npm_config_prefer_offline: 'true',
  }
}
