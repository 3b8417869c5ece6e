import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Place } from './page.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A clean directory with what a section of a page begins with. */
export type Directory = Awaited<ReturnType<Stage['directory']>>

/**
 * Where pages are run: the repository as a clone of it is, and the package as an installation of it is. Both are made once,
 * when a page first asks for them, by the commands that the pages name.
 *
 * With PAGES_STAGE, a directory, they are kept there from one run of the tests to the next.
 */
export class Stage {
  readonly #path: string
  readonly #isKept: boolean
  #packing: Promise<string> | undefined
  #installing: Promise<void> | undefined

  private constructor(path: string, isKept: boolean) {
    this.#path = path
    this.#isKept = isKept
  }

  static async open(): Promise<Stage> {
    const kept = process.env.PAGES_STAGE
    const path = kept ?? (await mkdtemp(join(tmpdir(), 'thingwire-pages-')))
    for (const part of ['bin', 'kept', 'tarball']) await mkdir(join(path, part), { recursive: true })
    const stage = new Stage(path, kept !== undefined)
    await writeFile(stage.#npm, npmScript(await output('which', ['npm']), join(path, 'kept')))
    await chmod(stage.#npm, 0o755)
    return stage
  }

  async close(): Promise<void> {
    if (!this.#isKept) await rm(this.#path, { recursive: true, force: true })
  }

  /** A new directory. Its user removes it. */
  async directory(place: Place): Promise<{ path: string; environment: NodeJS.ProcessEnv }> {
    const parent = await mkdtemp(join(this.#path, 'page-'))
    // By the name that a clone has; error messages and listings show it.
    const path = join(parent, 'thingwire')
    await mkdir(path)
    if (place === 'repository') await copySources(path)
    if (place === 'tarball') {
      const tarball = await this.#pack()
      await copyFile(join(this.#path, 'tarball', tarball), join(path, tarball))
    }
    if (place === 'package') await this.#install()
    const programs = { repository: ['bin'], tarball: [], package: ['installed/bin'] }[place]
    return { path, environment: this.#environment(path, programs) }
  }

  get #npm(): string {
    return join(this.#path, 'bin/npm')
  }

  /** @returns the name of the file in `tarball` */
  #pack(): Promise<string> {
    const directory = join(this.#path, 'tarball')
    const pack = async () => {
      const [kept] = await readdir(directory)
      if (kept !== undefined) return kept
      const clone = await this.directory('repository')
      const options = { cwd: clone.path, env: clone.environment }
      for (const command of ['npm ci', `npm pack --pack-destination ${directory}`]) {
        await run('bash', ['-c', command], options)
      }
      await rm(dirname(clone.path), { recursive: true })
      const [name = ''] = await readdir(directory)
      return name
    }
    this.#packing ??= pack()
    return this.#packing
  }

  #install(): Promise<void> {
    const install = async () => {
      const prefix = join(this.#path, 'installed')
      if (await stat(join(prefix, 'bin/thingwire')).catch(() => undefined)) return
      const tarball = join(this.#path, 'tarball', await this.#pack())
      await mkdir(prefix, { recursive: true })
      const command = ['install', '--global', '--prefix', prefix, tarball]
      await run('npm', command, { cwd: prefix, env: this.#environment(prefix, []) })
    }
    this.#installing ??= install()
    return this.#installing
  }

  /** That of a user's shell: nothing of the test runner's, of npm's or of a server's. */
  #environment(home: string, programs: readonly string[]): NodeJS.ProcessEnv {
    const foreign = /^(THINGWIRE_|npm_|VITEST|EXAMPLE_|PLANT_|THING_TOKEN|NODE_ENV|NODE_OPTIONS|TEST$|PAGES_)/
    const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name))
    const path = (process.env.PATH ?? '').split(delimiter).filter(part => !/node_modules|node-gyp/.test(part))
    return {
      ...Object.fromEntries(inherited),
      HOME: home,
      PATH: [...programs.map(part => join(this.#path, part)), ...path].join(delimiter),
      npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), '.npmrc'),
      npm_config_cache: process.env.npm_config_cache ?? join(homedir(), '.npm'),
      npm_config_prefer_offline: 'true',
    }
  }
}

/** What git tracks, as it is now, and what it would track. */
async function copySources(to: string): Promise<void> {
  const list = await output('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  for (const file of new Set(list.split('\0').filter(name => name !== ''))) {
    await mkdir(dirname(join(to, file)), { recursive: true })
    const source = join(root, file)
    const stats = await stat(source).catch(() => undefined)
    // A file that was removed, and not yet committed.
    if (!stats) continue
    await copyFile(source, join(to, file))
    // By these it is told whether `dist` is stale.
    await utimes(join(to, file), stats.atime, stats.mtime)
  }
}

/**
 * `npm` for clones. The two commands that take a minute run for real in the first clone; another clone of the same sources
 * gets what came of them.
 */
function npmScript(npm: string, kept: string): string {
  return `#!/bin/bash
set -o pipefail
case "$*" in
  ci) made=node_modules ;;
  'run build') made=dist ;;
  *) exec '${npm}' "$@" ;;
esac
kept='${kept}'/$made
if [ ! -e "$kept.output" ]; then
  '${npm}' "$@" | tee "$kept.new" || exit
  rm -rf "$kept" && cp -al $made "$kept" && exec mv "$kept.new" "$kept.output"
fi
rm -rf $made
# Nothing is written into packages, and they are many files.
if [ $made = node_modules ]; then ln -s "$kept" $made; else cp -a "$kept" $made; fi
exec cat "$kept.output"
`
}

async function output(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, args, { cwd: root, maxBuffer: 2 ** 26 })
  return stdout.trimEnd()
}
