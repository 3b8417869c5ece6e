import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Program } from '../clients/program.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

it('serve prints a link that signs in and a log for people, on a terminal alone', async () => {
  const dataDir = join(await temporaryDirectory(), 'data')
  const command = `exec ${process.execPath} ${process.cwd()}/dist/cli/main.js serve --http-port 0 --mqtt-port 0 --data-dir ${dataDir}`
  const terminal = new Program({ command: 'script', debianPackage: 'bsdutils' }, [
    '-qefc',
    command,
    '/dev/null',
  ])
  const [url, token] = await terminal.said(
    /^Open this link to see your readings: (\S+)\/#session=(\S+?)\r?$/m,
  )
  const response = await fetch(`${url}/v2/principal`, { headers: { authorization: `Bearer ${token}` } })
  const principal = (await response.json()) as { expiresAt: string }
  expect(principal).toMatchObject({ kind: 'session', access: 'write', things: '*' })
  terminal.process.stdin?.write('\u0003')
  const { output } = await terminal.exited
  expect(output).toMatch(/^(?:\^C)?\d\d:\d\d:\d\d info stopping signal=SIGINT\r?$/m)
  expect(output).not.toContain('"level"')
  const { stdout, stderr } = await (await startServer({ dataDir: await temporaryDirectory() })).stop()
  expect(stdout).toContain('Thingwire is ready')
  expect(stdout + stderr).not.toContain('session')
})
