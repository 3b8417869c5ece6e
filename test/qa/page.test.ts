import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { noteResult, suitesIn } from './page.ts'

const page = readFileSync('docs/inside/qa.md', 'utf8')
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const suites = suitesIn(page)

describe('docs/inside/qa.md', () => {
  it('names scripts that there are', () => {
    const named = suites.map(({ command }) => command.split(' ')[2] ?? '')
    expect(named.filter(script => !(script in scripts))).toEqual([])
  })

  it('has each long suite and each bench', () => {
    const long = Object.keys(scripts).filter(script =>
      /^(?:bench|fault):|^(?:nodes|soak|relay|fuzz)$/.test(script),
    )
    expect(
      long.filter(script => !suites.some(({ command }) => command.startsWith(`npm run ${script}`))),
    ).toEqual([])
  })

  it('takes the result of a suite, and leaves the others alone', () => {
    const noted = noteResult(page, 'soak', 31, '2026-11-29, 1a2b3c4: passed')
    const changed = suitesIn(noted).filter(({ minutes }, place) => minutes !== suites[place]?.minutes)
    expect(changed).toEqual([{ name: 'soak', command: 'npm run soak', minutes: 31 }])
    expect(noted).toContain('| soak | `npm run soak` | 31 | 2026-11-29, 1a2b3c4: passed |')
    expect(noteResult(noted, 'soak', 30, 'x')).toContain('| soak | `npm run soak` | 30 | x |')
  })
})
