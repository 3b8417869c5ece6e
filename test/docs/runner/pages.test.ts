import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsePage, type Section } from './page.ts'
import { runSection } from './run-section.ts'
import { Stage } from './stage.ts'

/**
 * The commands of every page that tells a reader to type some: run as they stand, in order, on the ports that they name, and
 * their answers compared. `npm run pages -- -t docs/use/tls.md` runs one page.
 */

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('docs/use', { recursive: true }).map(name => `docs/use/${name}`),
  ...readdirSync('examples').map(name => `examples/${name}/README.md`),
]
  .filter(path => path.endsWith('.md') && existsSync(path))
  .map(path => parsePage(path, readFileSync(path, 'utf8')))

let stage: Stage

beforeAll(async () => {
  stage = await Stage.open()
})

afterAll(async () => {
  const left = pages.flatMap(({ path, sections }) =>
    sections
      .flatMap(({ steps }) => steps)
      .flatMap(step => (step.kind === 'left' ? [`  ${path}:${step.line}: ${step.reason}`] : [])),
  )
  if (left.length > 0) console.log(`Not run:\n${left.join('\n')}`)
  await stage.close()
})

const run = pages
  .map(({ path, sections }) => ({ path, sections: sections.filter(hasCommands) }))
  .filter(({ sections }) => sections.length > 0)

describe.each(run)('$path', ({ path, sections }) => {
  test.each(sections.map((section, index) => ({ number: index + 1, section })))(
    'does what it says, part $number',
    ({ section }) => runSection(path, section, stage),
  )
})

test('there are pages', () => {
  expect(pages.length).toBeGreaterThan(10)
})

function hasCommands({ steps }: Section): boolean {
  return steps.some(({ kind }) => kind === 'run')
}
