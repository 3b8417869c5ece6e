import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { headingsOf, sectionOf, tableRowsOf } from './markdown.ts'

const folder = 'docs/inside/decisions'
const index = read('README.md')
const topics = readdirSync(folder).filter(file => file !== 'README.md')

interface Decision {
  readonly number: number
  readonly title: string
  readonly date: string | undefined
  readonly text: string
  /** As the first page links to it. */
  readonly link: string
}

const decisions = topics.flatMap(decisionsIn).sort((a, b) => a.number - b.number)

describe('docs/inside/decisions', () => {
  it('numbers its decisions from 1 on, each once', () => {
    expect(decisions.length).toBeGreaterThan(35)
    expect(decisions.map(({ number }) => number)).toEqual(decisions.map((_, place) => place + 1))
  })

  it('says of each when it was decided, what and why', () => {
    const incomplete = decisions.filter(
      ({ date, text }) => !date || !text.includes('**Decided.**') || !text.includes('**Why.**'),
    )
    expect(incomplete.map(({ link }) => link)).toEqual([])
  })

  it('lists each on its first page with number, title and date', () => {
    const listed = tableRowsOf(sectionOf(index, 'All decisions'))
    const expected = decisions.map(({ number, title, link, date }) => [
      `${number}`,
      `[${title}](${link})`,
      date,
    ])
    expect(listed).toEqual(expected)
  })

  it('names ten of them to begin with', () => {
    const named = [
      ...sectionOf(index, 'If you read ten').matchAll(/^- \*\*\[(.*)\]\((.*)\)\*\* \((\d+)\)\./gm),
    ]
    const unknown = named.filter(
      ([, title, link, number]) =>
        !decisions.some(each => each.title === title && each.link === link && `${each.number}` === number),
    )
    expect(named.length).toBe(10)
    expect(unknown).toEqual([])
  })

  it('gives a reason for every dependency', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    const installed = Object.keys({ ...dependencies, ...devDependencies })
    const explained = tableRowsOf(sectionOf(read('stack.md'), 'Dependencies')).flatMap(
      ([names = '', reason = '']) => (reason === '' ? [] : names.split(', ')),
    )
    expect(explained.sort()).toEqual(installed.sort())
  })
})

function read(file: string): string {
  return readFileSync(`${folder}/${file}`, 'utf8')
}

function decisionsIn(file: string): Decision[] {
  const page = read(file)
  return headingsOf(page).flatMap(({ text: heading, anchor }) => {
    const [, number, title] = /^(\d+)\. (.*)$/.exec(heading) ?? []
    if (number === undefined || title === undefined) return []
    const text = sectionOf(page, heading)
    const date = /^\n(\d{4}-\d{2}-\d{2})\n\n/.exec(text)?.[1]
    return [{ number: Number(number), title, date, text, link: `${file}#${anchor}` }]
  })
}
