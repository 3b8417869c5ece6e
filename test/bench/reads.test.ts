import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ProgramMissing } from '../../bench/peers/peer.ts'
import { installSqlite } from '../../bench/reads/better-sqlite3.ts'
import { FoldedRows } from '../../bench/reads/check.ts'
import { end, gap, rowsOf } from '../../bench/reads/rows.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const records = 200
const rows = new FoldedRows(records)
const newestFirst = [...rowsOf(records)].map(({ datetime, value }) => [datetime, value]).reverse()

describe('FoldedRows', () => {
  it('has the newest rows, and those in front of a datetime', () => {
    expect(rows.numbers({ kind: 'records', limit: 3 })).toEqual(newestFirst.slice(0, 3))
    const to = end - 10 * gap
    expect(rows.numbers({ kind: 'records', limit: 2, to })).toEqual(newestFirst.slice(10, 12))
    expect(rows.numbers({ kind: 'csv', from: end - 5 * gap, to: end })).toEqual(newestFirst.slice(0, 5))
  })

  it('folds the rows of a window by aligned intervals', () => {
    const window = { from: end - 90 * gap, to: end - 10 * gap }
    const found = rows.numbers({
      kind: 'summaries',
      functions: ['count', 'min', 'max'],
      interval: 60_000,
      ...window,
    })
    const values = newestFirst.map(([, value = 0]) => value)
    const expected = [
      { begin: end - 60 * gap, folded: values.slice(10, 60) },
      { begin: end - 120 * gap, folded: values.slice(60, 90) },
    ]
    expect(found).toEqual(
      expected.map(({ begin, folded }) => [begin, folded.length, Math.min(...folded), Math.max(...folded)]),
    )
  })
})

describe('installSqlite', () => {
  it('says in one line what is missing where it cannot be installed', async () => {
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'package.json'), '{"dependencies":{"better-sqlite3":"12.11.1"}}')
    const failure = await installSqlite(directory).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ProgramMissing)
    expect((failure as Error).message).toMatch(
      /^better-sqlite3 is not installed.* apt install build-essential python3$/,
    )
  })
})
