import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { built } from '../helpers/built.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

it('npm start ends with the server, and the server with it, if SIGTERM goes to npm alone', async () => {
  await built()
  const dataDir = join(await temporaryDirectory(), 'data')
  const options = ['--data-dir', dataDir, '--http-port', '0', '--mqtt-port', '0', '--log-level', 'info']
  const npm = spawn('npm', ['start', '--silent', '--', ...options], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ready = new Promise<void>(resolve => {
    npm.stdout.on('data', (part: Buffer) => {
      output += part
      if (output.includes('is ready at')) resolve()
    })
  })
  let log = ''
  npm.stderr.on('data', (part: Buffer) => {
    log += part
  })
  // `close` waits for whoever has the pipes, so for the server.
  const closed = once(npm, 'close')
  await Promise.race([ready, closed])
  expect(output).toContain('is ready at')
  npm.kill('SIGTERM')
  await closed
  expect(log).toContain('"msg":"stopped"')
})
