import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { accessFault } from '../../../src/core/files/access-fault.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

/** User id of `nobody`. */
const nobody = 65_534

/** What `accessFault` finds as another user, who could perhaps not read this repository or start this Node. */
async function faultOfNobody(files: readonly string[]): Promise<string> {
  const module = fileURLToPath(new URL('../../../src/core/files/access-fault.ts', import.meta.url))
  const contents = `import { accessFault } from ${JSON.stringify(module)}
    process.setgid(${nobody})
    process.setuid(${nobody})
    console.log(await accessFault(${JSON.stringify(files)}))`
  const stdin = { contents, resolveDir: '/' }
  const { outputFiles } = await build({ stdin, bundle: true, platform: 'node', format: 'esm', write: false })
  const args = ['--input-type=module', '--eval', outputFiles[0]?.text ?? '']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return stdout.trim()
}

it('names the owner of what another user may not use, and the command that gives it away', async () => {
  const above = await temporaryDirectory()
  await chmod(above, 0o755)
  const [dataDir, key] = [join(above, 'data'), join(above, 'data', 'admin-key')]
  await mkdir(dataDir, { mode: 0o700 })
  await writeFile(key, 'secret', { mode: 0o600 })
  const files = [dataDir, key]
  const why = /^(\S+) belongs to root, and user 65534 may not use it: .* sudo chown -R 65534 (\S+)$/
  expect(why.exec(await faultOfNobody(files))?.slice(1)).toEqual([dataDir, dataDir])
  expect(why.exec(await faultOfNobody([key]))?.slice(1)).toEqual([dataDir, key])
  await chmod(dataDir, 0o777)
  expect(why.exec(await faultOfNobody(files))?.slice(1)).toEqual([key, dataDir])
  await chmod(key, 0o666)
  expect(await faultOfNobody([...files, join(dataDir, 'missing')])).toBe('undefined')
  expect(await accessFault(files)).toBeUndefined()
})
