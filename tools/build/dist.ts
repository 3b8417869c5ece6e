import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import { build as bundle } from 'esbuild'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const dist = join(root, 'dist')
/** In `dist`: the digest of which each part was made. No part of the package. */
const marker = '.built'

interface Part {
  /** Files and directories, from the root. A digest of their names, sizes and times decides whether the part is stale. */
  readonly madeFrom: readonly string[]
  /** In `dist`. */
  readonly makes: (name: string) => boolean
  make(directory: string): Promise<void>
}

/** Of the demo: the package has it compressed. */
const voyage = 'examples/voyage/voyage.csv'
const tools = ['tools/build', 'package-lock.json']
const parts: Readonly<Record<'program' | 'page', Part>> = {
  program: {
    madeFrom: ['src', voyage, 'tsconfig.json', 'tsconfig.build.json', ...tools],
    makes: name => name !== 'web' && name !== marker,
    make: makeProgram,
  },
  page: { madeFrom: ['web', ...tools], makes: name => name === 'web', make: makePage },
}

/**
 * Makes `dist`: `src` compiled, the command bundled, and the page. A part whose sources are as they were is taken over.
 * The new directory is made beside the old one and then takes its place, so that no file of an older source stays in it.
 * Types are not checked (`npm run types`).
 *
 * @param again takes nothing over
 * @returns whether anything was made
 * @throws Error if the compiler or a bundler fails; `dist` is then as it was
 */
export async function makeDist({ again = false } = {}): Promise<boolean> {
  const former = again ? {} : await formerDigests()
  const digests = { program: await digestOf(parts.program), page: await digestOf(parts.page) }
  const names = ['program', 'page'] as const
  if (names.every(name => former[name] === digests[name])) return false
  const made = join(root, `dist.${process.pid}`)
  await mkdir(made)
  try {
    const making = names.map(name =>
      former[name] === digests[name] ? takeOver(parts[name], made) : parts[name].make(made),
    )
    await Promise.all(making)
    await writeFile(join(made, marker), JSON.stringify(digests))
    await putInPlace(made)
  } finally {
    await rm(made, { recursive: true, force: true })
  }
  return true
}

async function makeProgram(directory: string): Promise<void> {
  const options = ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', directory]
  // Comments are for those who read the types: twice they would be a fifth of the program.
  const emits = [['--emitDeclarationOnly'], ['--declaration', 'false', '--removeComments']]
  await Promise.all(emits.map(emit => runInstalled('typescript/bin/tsc', [...options, ...emit])))
  const cli = join(directory, 'cli')
  await bundle({
    absWorkingDir: root,
    entryPoints: ['src/cli/main.ts'],
    outdir: cli,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // The names stay, and lines are short: a stack still names its functions and its places.
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 120,
    logLevel: 'warning',
  })
  const scripts = join(root, 'src/store/redis/scripts')
  for (const to of [join(directory, 'store/redis'), cli])
    await cp(scripts, join(to, 'scripts'), { recursive: true })
  const text = await readFile(join(root, voyage))
  await writeFile(join(cli, 'voyage.csv.br'), await promisify(brotliCompress)(text))
}

async function makePage(directory: string): Promise<void> {
  const options = ['build', 'web', '--logLevel', 'warn', '--emptyOutDir', '--outDir', join(directory, 'web')]
  await runInstalled('vite/bin/vite.js', options)
}

async function takeOver({ makes }: Part, made: string): Promise<void> {
  for (const name of (await readdir(dist)).filter(makes))
    await cp(join(dist, name), join(made, name), { recursive: true })
}

/** Another build may do the same at the same time: the last one stays. */
async function putInPlace(made: string): Promise<void> {
  const former = `${made}.former`
  for (let tries = 5; ; tries--) {
    await rename(dist, former).catch(unlessMissing)
    try {
      await rename(made, dist)
      return
    } catch (error) {
      if (tries === 0) throw error
    } finally {
      await rm(former, { recursive: true, force: true })
    }
  }
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

async function formerDigests(): Promise<{ program?: string; page?: string }> {
  const text = await readFile(join(dist, marker), 'utf8').catch(() => '{}')
  return JSON.parse(text)
}

async function digestOf({ madeFrom }: Part): Promise<string> {
  const files = (await Promise.all(madeFrom.map(filesOf))).flat().sort()
  const lines = files.map(async file => {
    const { mtimeMs, size } = await stat(join(root, file))
    return `${file} ${size} ${mtimeMs}\n`
  })
  return createHash('sha256')
    .update((await Promise.all(lines)).join(''))
    .digest('hex')
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(join(root, path))).isDirectory()) return [path]
  const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(root.length))
}

/** What is wrong is on stdout of the compiler. */
async function runInstalled(program: string, options: readonly string[]): Promise<void> {
  // Vite makes a page for tests where NODE_ENV says `test`.
  const env = { ...process.env, NODE_ENV: 'production' }
  try {
    await run(process.execPath, [join(root, 'node_modules', program), ...options], { cwd: root, env })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
