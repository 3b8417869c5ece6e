import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { linksIn, markdownFiles } from '../docs/markdown.ts'
import { Child } from '../helpers/child.ts'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const { satisfies } = createRequire(import.meta.url)('semver') as {
  satisfies(version: string, range: string): boolean
}

/** Nodes on which `npm ci` and `npm install` warn of nothing. */
const nodes = ['20.19.0', '20.20.2', '22.12.0', '24.0.0']
const freePorts = '--http-port 0 --mqtt-port 0'

let packed: Packed
beforeAll(async () => {
  packed = await packAndInstall()
})
afterAll(() => packed.remove())

describe('the tarball', () => {
  it('has the program, its page, its papers and the examples, and nothing else', () => {
    const tops = packed.files.map(file => /^(docs\/|config\/|dist\/|examples\/)?/.exec(file)?.[0] || file)
    const papers = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'NOTICE', 'README.md', 'SECURITY.md']
    const folders = ['config/', 'dist/', 'docs/', 'examples/']
    expect([...new Set(tops)].sort()).toEqual([...papers, ...folders, 'package.json'].sort())
    const built = packed.files.filter(file => file.startsWith('dist/'))
    expect(built.filter(file => /\.(map|ts)$/.test(file) && !file.endsWith('.d.ts'))).toEqual([])
    expect(packed.files).not.toContain('dist/.built')
  })

  it('is at most 2.5 MB: each large file is there once, compressed', () => {
    expect(packed.size).toBeLessThan(2_500_000)
    const coasts = packed.files.filter(file => /\bland-\d+m/.test(file))
    expect(coasts.map(file => file.replace(/-[^-]+\.json/, '.json')).toSorted()).toEqual(
      ['10m', '110m', '50m'].map(scale => `dist/web/assets/land-${scale}.json.gz`),
    )
    expect(packed.files.filter(file => file.includes('voyage.csv'))).toEqual(['dist/cli/voyage.csv.br'])
  })

  it('has no module whose source is gone', async () => {
    const modules = packed.files.filter(file => /^dist\/(?!cli\/|web\/).*\.js$/.test(file))
    const sources = modules.map(file => file.replace(/^dist/, 'src').replace(/\.js$/, '.ts'))
    const gone = await Promise.all(
      sources.map(source =>
        stat(source).then(
          () => [],
          () => [source],
        ),
      ),
    )
    expect(modules.length).toBeGreaterThan(100)
    expect(gone.flat()).toEqual([])
  })

  it('has every document that the command names', async () => {
    const names = await readdir('dist/cli')
    const texts = names
      .filter(name => name.endsWith('.js'))
      .map(name => readFile(join('dist/cli', name), 'utf8'))
    const named = (await Promise.all(texts)).flatMap(text => text.match(/\bdocs\/[\w/-]+\.md\b/g) ?? [])
    expect(named).toContain('docs/reference/errors.md')
    expect([...new Set(named)].filter(name => !packed.files.includes(name))).toEqual([])
  })

  it('has every file to which its documents link', () => {
    const pages = markdownFiles().filter(({ path }) => packed.files.includes(path))
    const dead = pages.flatMap(page =>
      linksIn(page)
        .map(({ target }) => target.replace(/#.*/, ''))
        .filter(target => target !== '' && !/^(\w+:|\/)/.test(target))
        .map(target => join(dirname(page.path), target))
        .filter(file => !packed.files.some(path => path === file || path.startsWith(`${file}/`)))
        .map(file => `${page.path}: ${file}`),
    )
    expect(dead).toEqual([])
  })

  it('has the licences of what the page carries', async () => {
    const licences = await readFile('dist/web/licenses.md', 'utf8')
    for (const name of ['mqtt', 'ol', 'preact', 'qrcode-generator', 'uplot', 'world-atlas'])
      expect(licences).toContain(`\n## ${name} - `)
    expect(packed.files).toContain('dist/web/licenses.md')
  })
})

describe('npm install of the tarball', () => {
  it('warns of nothing but the script that looks for the compiled binary of LevelDB', async () => {
    expect(packed.said).not.toMatch(/EBADENGINE|deprecated|ERESOLVE|telemetry/)
    const scripts = await packages(join(packed.directory, 'node_modules'), ({ scripts = {} }) =>
      ['preinstall', 'install', 'postinstall'].some(script => script in scripts),
    )
    expect(scripts).toEqual(['classic-level'])
  })

  it.each(nodes)('takes no package that asks for more than Node %s', async node => {
    const unfit = await packages(
      join(packed.directory, 'node_modules'),
      ({ engines }) => !satisfies(node, engines?.node ?? '*'),
    )
    expect(unfit).toEqual([])
  })

  it('makes npx thingwire serve a server, which stores what it is told', async () => {
    await storesWith(`npx thingwire serve ${freePorts}`, packed.directory)
  })

  it('is not needed by npx, given the tarball', async () => {
    const empty = await temporaryDirectory()
    const name = basename(packed.tarball)
    await copyFile(packed.tarball, join(empty, name))
    await storesWith(`npx --yes ./${name} serve ${freePorts}`, empty)
    expect((await readdir(empty)).sort()).toEqual(['data', name])
  })
})

describe('config/thingwire.service', () => {
  it('starts a server that keeps everything in its state directory, and ends it in order', async () => {
    const unit = await serviceOf('config/thingwire.service')
    const state = await temporaryDirectory()
    const ofUnit = (text: string) => text.replaceAll('%S/thingwire', state)
    const environment = unit.Environment?.flatMap(line => ofUnit(line).split(' ')) ?? []
    const server = startLine(`exec ${unit.ExecStart}`, {
      cwd: ofUnit(unit.WorkingDirectory?.[0] ?? ''),
      env: {
        ...Object.fromEntries(environment.map(line => line.split('='))),
        PATH: `${join(packed.directory, 'node_modules/.bin')}:${process.env.PATH}`,
        // As EnvironmentFile would.
        THINGWIRE_HTTP_PORT: '0',
        THINGWIRE_MQTT_PORT: '0',
      },
    })
    onTestFinished(() => signalGroup(server, 'SIGKILL'))
    const url = await urlOf(server)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect((await readdir(state)).sort()).toEqual(['admin-key', 'store'])
    const command = (await readFile(`/proc/${server.process.pid}/cmdline`, 'utf8')).split('\0')
    expect(command.slice(1, 4)).toEqual(await startFlags())
    signalGroup(server, 'SIGTERM')
    expect((await server.exited).code).toBe(0)
  })

  it('waits for a stop as long as one may take', async () => {
    const { TimeoutStopSec = [] } = await serviceOf('config/thingwire.service')
    const { shutdownTimeout } = JSON.parse(await readFile('config/default.json', 'utf8'))
    expect(Number(TimeoutStopSec[0]) * 1000).toBeGreaterThan(shutdownTimeout)
  })
})

test('the command, npm start and the container give Node the same flags and malloc as many arenas', async () => {
  const [firstLine = ''] = (await readFile('src/cli/main.ts', 'utf8')).split('\n')
  const dockerfile = await readFile('Dockerfile', 'utf8')
  const [, entry = '[]'] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? []
  const [, arenas = ''] = /^ENV (MALLOC_ARENA_MAX=\d+)$/m.exec(dockerfile) ?? []
  const flags = await startFlags()
  expect(flags).not.toEqual([])
  expect(firstLine).toBe(`#!/usr/bin/env -S ${arenas} node ${flags.join(' ')}`)
  expect(await readFile('package.json', 'utf8')).toContain(`"start": "exec env ${arenas} node `)
  expect(JSON.parse(entry)).toEqual(['node', ...flags, 'dist/cli/main.js'])
})

test.each(nodes)('no package of the lock file asks for more than Node %s', async node => {
  const lock = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
    packages: Record<string, { optional?: boolean; engines?: { node?: string } }>
  }
  const unfit = Object.entries(lock.packages)
    .filter(([, { optional, engines }]) => !optional && !satisfies(node, engines?.node ?? '*'))
    .map(([path]) => path)
  expect(unfit).toEqual([])
})

/** Starts a server in a directory, writes a record and reads it. */
async function storesWith(line: string, cwd: string): Promise<void> {
  const server = startLine(line, { cwd })
  onTestFinished(async () => {
    signalGroup(server, 'SIGKILL')
    await server.exited
  })
  const url = await urlOf(server)
  const address = { url, adminKey: (await readFile(join(cwd, 'data/admin-key'), 'utf8')).trim() }
  const thing = await createThing(address)
  const answer = await write(address, thing, { values: [{ key: 'depth_m', value: 9.8 }] })
  expect(answer.status).toBe(201)
  expect(await readAll(address, thing, 'depth_m')).toMatchObject([{ value: 9.8 }])
  expect(await (await fetch(url)).text()).toContain('<!doctype html>')
}

interface Manifest {
  readonly name: string
  readonly engines?: { readonly node?: string }
  readonly scripts?: Readonly<Record<string, string>>
}

/** Names of the installed packages that `is` holds of. */
async function packages(modules: string, is: (manifest: Manifest) => boolean): Promise<string[]> {
  const entries = await readdir(modules, { recursive: true })
  const paths = entries.filter(path => /(^|node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
  const manifests = paths.map(
    async path => JSON.parse(await readFile(join(modules, path), 'utf8')) as Manifest,
  )
  const all = await Promise.all(manifests)
  expect(all.length).toBeGreaterThan(50)
  return all.filter(is).map(({ name }) => name)
}

/** What a unit says under [Service]: each name with its values. */
async function serviceOf(path: string): Promise<Partial<Record<string, string[]>>> {
  const [, service = ''] = (await readFile(path, 'utf8')).split(/^\[(?:Service|Install)\]$/m)
  const settings = [...service.matchAll(/^(\w+)=(.*)$/gm)]
  const named = settings.map(([, name = '', value = '']) => [name, value] as const)
  return Object.fromEntries(
    named.map(([name]) => [name, named.filter(([other]) => other === name).map(([, value]) => value)]),
  )
}

/** Flags of V8 that `npm start` gives. */
async function startFlags(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter(word => word.startsWith('--'))
}

const run = promisify(execFile)

/** The tarball of this tree, and an empty directory in which it was installed as a user installs it. */
interface Packed {
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
async function packAndInstall(): Promise<Packed> {
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

/** Starts a server by a command line as a user types it, in a process group of its own. */
function startLine(line: string, { env, ...options }: { cwd: string; env?: NodeJS.ProcessEnv }): Child {
  return new Child('bash', ['-c', line], {
    ...options,
    env: { ...userEnvironment(), ...env },
    detached: true,
  })
}

/** @returns the address of its HTTP door @throws Error with the output if it ends before */
async function urlOf(server: Child): Promise<string> {
  const [, url = ''] = await server.until('output', /^Thingwire is ready at (\S+)$/m)
  return url
}

/** To the whole group, as Ctrl-C in a terminal. */
function signalGroup({ process: { pid = 0 } }: Child, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
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
