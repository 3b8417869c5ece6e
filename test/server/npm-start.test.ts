import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { built } from '../helpers/built.ts'
import { Child } from '../helpers/child.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

it('npm start ends with the server, and the server with it, if SIGTERM goes to npm alone', async () => {
  await built()
  const dataDir = join(await temporaryDirectory(), 'data')
  const options = ['--data-dir', dataDir, '--http-port', '0', '--mqtt-port', '0', '--log-level', 'info']
  const npm = new Child('npm', ['start', '--silent', '--', ...options], { cwd: repository })
  await npm.until('stdout', /is ready at/)
  // Its output is complete when nobody has the pipes any more, so when the server is gone.
  const { stderr } = await npm.end('SIGTERM')
  expect(stderr).toContain('"msg":"stopped"')
})
