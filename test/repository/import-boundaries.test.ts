import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** The directions of imports (docs/architecture.md), as the linter holds them. */

const forbidden = [
  ['src/core/a.ts', '../store/contract.ts'],
  ['src/core/b.ts', '../things.ts'],
  ['src/magic/a.ts', '../access/index.ts'],
  ['src/store/a.ts', '../http/index.ts'],
  ['src/store/level/a.ts', '../../access/index.ts'],
  ['src/store/level/runs/a.ts', '../../../access/index.ts'],
  ['src/core/record/a.ts', '../../store/contract.ts'],
  ['src/access/a.ts', '../store/contract.ts'],
  ['src/http/a.ts', '../mqtt/index.ts'],
  ['src/http/b.ts', '../store/contract.ts'],
  ['src/http/c.ts', '../things.ts'],
  ['src/mqtt/a.ts', '../http/index.ts'],
  ['src/conformance/a.ts', '../http/index.ts'],
  ['src/retention/a.ts', '../cli/main.ts'],
  ['src/forward/a.ts', '../access/index.ts'],
  ['src/live/a.ts', '../forward/forwarder.ts'],
  ['src/embed/a.ts', '../mqtt/index.ts'],
  ['src/embed/b.ts', '../things.ts'],
  ['src/http/e.ts', '../embed/index.ts'],
  ['src/server/b.ts', '../cli/main.ts'],
] as const

const allowed = [
  ['src/core/c.ts', '../errors.ts'],
  ['src/store/level/c.ts', '../../core/ports.ts'],
  ['src/store/level/runs/c.ts', '../../../core/ports.ts'],
  ['src/http/d.ts', '../access/index.ts'],
  ['src/server/a.ts', '../store/level/index.ts'],
  ['src/forward/b.ts', '../live/index.ts'],
  ['src/embed/c.ts', '../http/reading/pages.ts'],
] as const

test('the linter refuses imports against the layout, and no others', async () => {
  const directory = await temporaryDirectory()
  const { vcs: _, ...config } = JSON.parse(readFileSync('biome.json', 'utf8')) as Record<string, unknown>
  writeFileSync(join(directory, 'biome.json'), JSON.stringify(config))
  for (const [file, imported] of [...forbidden, ...allowed]) {
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    writeFileSync(
      join(directory, file),
      `import { something } from '${imported}'\nexport const used = something\n`,
    )
  }
  const biome = resolve('node_modules/.bin/biome')
  const only = ['--only=style/noRestrictedImports', '--max-diagnostics=none']
  const { stdout, stderr } = spawnSync(biome, ['lint', ...only, '.'], { cwd: directory, encoding: 'utf8' })
  const refused = [
    ...`${stdout}${stderr}`.matchAll(/^(src\/\S+?\.ts):\S+ lint\/style\/noRestrictedImports/gm),
  ]
  expect(refused.map(([, file]) => file).sort()).toEqual(forbidden.map(([file]) => file).sort())
})
