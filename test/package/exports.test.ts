import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

/** The package as others import it: built (`npm run build`), by its own name, in a process that runs no TypeScript. */

const run = promisify(execFile)
const manifest = JSON.parse(await readFile('package.json', 'utf8')) as {
  version: string
  bin: { thingwire: string }
}

describe('the package', () => {
  test.each([
    ['thingwire', ['createThings', 'createLevelStore', 'ThingwireError', 'catalogue']],
    ['thingwire/mqtt', ['attachThings', 'writeTopic', 'refOfWriteTopic']],
    ['thingwire/http', ['thingsHttp', 'hostOptions']],
    ['thingwire/page', ['thingsPage']],
    ['thingwire/server', ['createServer']],
    ['thingwire/conformance', ['storeConformance']],
  ])('exports %s', async (specifier, names) => {
    const script = `console.log(JSON.stringify(Object.keys(await import('${specifier}'))))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(names))
  })

  test('has a thingwire command', async () => {
    const { stdout } = await run(process.execPath, [manifest.bin.thingwire, '--version'])
    expect(stdout.trim()).toBe(manifest.version)
  })
})
