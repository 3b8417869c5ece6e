import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { catalogue, type Reason, ThingwireError } from '../src/errors.ts'

interface Group {
  readonly title: string
  readonly rows: string[]
}

const reasons = Object.keys(catalogue) as Reason[]

async function read(path: string): Promise<readonly string[]> {
  const text = await readFile(new URL(path, import.meta.url), 'utf8')
  return text.split('\n')
}

/** What stands under each title; before the first title nothing counts. */
function groupLines(lines: readonly string[], title: RegExp, row: RegExp): Group[] {
  const groups: Group[] = []
  for (const line of lines) {
    const begun = title.exec(line)?.[1]
    if (begun !== undefined) groups.push({ title: begun, rows: [] })
    // Formatters align the columns of a table.
    else if (row.test(line)) groups.at(-1)?.rows.push(line.replaceAll(/ +/g, ' '))
  }
  return groups
}

function rowOf(reason: Reason): string {
  const { status, retryable, mqtt, mqtt5, text } = catalogue[reason]
  const code = mqtt5 === undefined ? ' ' : ` 0x${mqtt5.toString(16)} `
  return `| \`${reason}\` | ${status} | ${retryable ? 'yes' : 'no'} | ${mqtt} |${code}| ${text} |`
}

describe('catalogue', () => {
  it('is docs/reference/errors.md, row by row in the same order', async () => {
    const groups = groupLines(await read('../docs/reference/errors.md'), /^## (.+)$/, /^\| `/)
    expect(groups.flatMap(({ rows }) => rows)).toEqual(reasons.map(rowOf))
  })

  it('is grouped in docs/reference/errors.md as by its comments', async () => {
    const documented = groupLines(await read('../docs/reference/errors.md'), /^## (.+)$/, /^\| `/)
    const commented = groupLines(await read('../src/errors.ts'), /^ {2}\/\/ (.+)$/, /^ {2}\w+: \{/)
    const nameIn = (row: string) => /\w+/.exec(row)?.[0]
    expect(documented.map(({ title, rows }) => [title, rows.map(nameIn)])).toEqual(
      commented.map(({ title, rows }) => [title, rows.map(nameIn)]),
    )
  })

  it.each(reasons)('%s is retryable only where the fault is the service’s, or time mends it', reason => {
    const { status, retryable } = catalogue[reason]
    const stays = ['resources', 'things', 'retained', 'persistent_sessions'].map(what => `too_many_${what}`)
    const endsByItself = status === 429 && !stays.includes(reason)
    expect(retryable).toBe(status >= 500 || endsByItself)
  })
})

describe('ThingwireError', () => {
  it('has the status, the retryability and the text of its reason', () => {
    const error = new ThingwireError('store_full')
    expect(error).toMatchObject({
      name: 'ThingwireError',
      reason: 'store_full',
      status: 503,
      retryable: true,
    })
    expect(error.message).toBe(catalogue.store_full.text)
    expect(error.errors).toBeUndefined()
  })

  it('keeps the records that were refused and what caused it', () => {
    const cause = new Error('disk')
    const errors = [{ index: 0, field: 'key', reason: 'invalid_key', message: 'no' }] as const
    expect(new ThingwireError('invalid_key', 'no', { errors, cause })).toMatchObject({ errors, cause })
  })
})
