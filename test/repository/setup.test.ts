import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parsePage } from '../docs/runner/page.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const setup = resolve('tools/setup/run.mjs')
const programs = JSON.parse(await readFile('tools/setup/programs.json', 'utf8')) as { package: string }[]
const names = programs.map(program => program.package)

describe('npm run setup', () => {
  it('says that there is nothing to do', async () => {
    const directory = await fakes({ dpkg: 'echo; echo Status: install ok installed', 'apt-get': 'exit 9' })
    const { status, stdout, stderr } = await run(`${directory}:${process.env.PATH}`)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toBe('Every program that the tests need is installed.\n')
  })

  it('names what is missing, and what a user of Debian has to type', async () => {
    const directory = await fakes({
      dpkg: `case $2 in wrk|strace) exit 1;; esac; echo; echo Status: install ok installed`,
      'apt-get': 'exit 9',
    })
    const { status, stderr } = await run(`${directory}:${process.env.PATH}`)
    expect(status).toBe(1)
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^missing: strace \(/),
      expect.stringMatching(/^missing: wrk \(/),
      'To install them, type:',
      `  sudo ${process.execPath} ${setup}`,
      '',
    ])
  })

  it('names what is missing on other systems', async () => {
    const { status, stderr } = await run(await fakes({ strace: '' }))
    expect(status).toBe(1)
    expect(stderr).toContain('missing: wrk (')
    expect(stderr).not.toContain('missing: strace')
    expect(stderr).toContain('The names are those of Debian.')
  })

  it('knows every package that a page needs', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      ...readdirSync('docs/use', { recursive: true }).map(name => `docs/use/${name}`),
      ...readdirSync('examples').map(name => `examples/${name}/README.md`),
    ].filter(path => path.endsWith('.md'))
    const needs = pages.flatMap(path =>
      parsePage(path, readFileSync(path, 'utf8')).sections.flatMap(section => section.needs),
    )
    expect(needs).toContain('mosquitto-clients')
    expect(needs.filter(name => !names.includes(name))).toEqual([])
  })
})

/** A directory for PATH: a shell, and the programs that stand in for others. */
async function fakes(scripts: Readonly<Record<string, string>>): Promise<string> {
  const directory = await temporaryDirectory()
  await symlink('/bin/sh', join(directory, 'sh'))
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(directory, name), 0o755)
  }
  return directory
}

interface Ending {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** As somebody who is not root, so that nothing is installed. */
async function run(path: string): Promise<Ending> {
  const args = ['--import', 'data:text/javascript,process.getuid = () => 1000', setup]
  const env = { ...process.env, PATH: path }
  return await new Promise(ended =>
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      ended({ status: Number(error?.code ?? 0), stdout, stderr }),
    ),
  )
}
