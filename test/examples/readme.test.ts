import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { Shell } from './shell.ts'

/** What README.md says to paste, with other ports and directories. */

const run = promisify(execFile)
const readme = await readFile('README.md', 'utf8')

test('the commands show readings of both doors live, present, missed, magic and as streams', async () => {
  const dataDir = await temporaryDirectory()
  const server = await startServer({ dataDir })
  onTestFinished(async () => void (await server.stop()))
  const shell = new Shell()
  const paste = (text: string) =>
    shell.paste(
      blockWith(text)
        .replaceAll('data/admin-key', `${dataDir}/admin-key`)
        .replaceAll('http://127.0.0.1:8080', server.url)
        .replaceAll('-h 127.0.0.1', `-h 127.0.0.1 -p ${new URL(server.mqttUrl).port}`),
    )

  // Who watches sees all of it.
  await paste('KEY=$(')
  await shell.said(/things\/\S{43}\/values\/depth \{"key":"depth","value":9\.8,"datetime":"\S+"\}$/m)
  const read = await paste('resources/depth?limit=2')
  expect(read).toMatch(/\[\{"key":"depth","value":9\.9,.*\},\{"key":"depth","value":9\.8,.*\}\]/)
  await shell.said(/things\/\S{43}\/values\/depth \{"key":"depth","value":9\.9,/m)

  expect(await paste("'things/+/values/depth'")).toMatch(
    /things\/[a-z2-7]{16}\/values\/depth .*"value":9\.9/m,
  )
  expect(await paste('retained: %r')).toMatch(/retained: 1 \{"key":"depth","value":9\.9,/m)
  const missed = await paste('-i tablet')
  expect(missed).toMatch(/\n?\{"key":"depth","value":10\.1,.*\n\{"key":"depth","value":10\.2,/)

  await paste('"key":"$geo"')
  await shell.said(/\/values\/\$geo .*"value":\{"type":"Point","coordinates":\[23\.54,60\.08\]\}/)
  await shell.said(/\/values\/\$settings .*"value":\{"alarm":\{"depth":3,"sound":"horn"\}\}/)
  expect(await paste('\\$settings.alarm')).toContain('"value":{"depth":3,"sound":"horn"}')

  await paste('text/event-stream')
  await shell.said(/id: \S/)
  await shell.said(/\{"status":"success","message":"subscribed"\}/)
  await paste('"value":10.3')
  await shell.said(/data: \[\{"key":"depth","value":10\.3,"datetime":"\S+"\}\]/)
  await shell.said(/\[\{"key":"depth","value":10\.3\}\]/)
  await paste('kill %1')

  const depths = await paste('SESSION=$(')
  expect(depths.match(/"key":"depth","value":10\.3,/g)).toHaveLength(2)
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
