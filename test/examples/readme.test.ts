import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** What README.md says to paste, with other ports and directories. */

const run = promisify(execFile)
const readme = await readFile('README.md', 'utf8')

test('the commands of the first screen put a reading through each door and read both', async () => {
  const dataDir = await temporaryDirectory()
  const server = await startServer({ dataDir })
  onTestFinished(async () => void (await server.stop()))
  const script = blockWith('KEY=$(')
    .replaceAll('data/admin-key', `${dataDir}/admin-key`)
    .replaceAll('http://127.0.0.1:8080', server.url)
    .replace('mosquitto_pub', `mosquitto_pub -p ${new URL(server.mqttUrl).port}`)
  const { stdout } = await run('bash', ['-e', '-c', script])
  const [, created, read] = /^(\{.*\})(\[.*\])$/s.exec(stdout.trim()) ?? []
  expect(JSON.parse(created ?? '')).toMatchObject({ status: 'created' })
  expect(JSON.parse(read ?? '')).toMatchObject([{ value: 9.9 }, { value: 9.8 }])
})

test('the library example serves both doors', async () => {
  const dataDir = await temporaryDirectory()
  const script = `
    const adminKey = 'an-admin-key-for-the-example-only'
    ${blockWith('attachThings(broker, things)').replace('./data', dataDir).replace('8080', '0').replace('1883', '0')}
    console.log(app.server.listening, typeof detach)
    process.exit(0)`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  expect(stdout.trim()).toBe('true function')
})

/** The first block of code that holds `text`. */
function blockWith(text: string): string {
  const blocks = [...readme.matchAll(/^```\w+\n(.*?)^```/gms)].map(([, block = '']) => block)
  const block = blocks.find(candidate => candidate.includes(text))
  if (block === undefined) throw new Error(`README.md has no block with ${text}`)
  return block
}
