import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { anchorsIn, linksIn, markdownFile, markdownFiles } from './markdown.ts'

const files = markdownFiles()
const anchors = new Map(files.map(file => [file.path, anchorsIn(file)]))

test('every link leads to a file that is there, and to a heading of it', () => {
  const dead = files.flatMap(file =>
    linksIn(file).flatMap(({ target, line }) =>
      isAlive(file.path, target) ? [] : [`${file.path}:${line}: ${target}`],
    ),
  )
  expect(files.length).toBeGreaterThan(10)
  expect(dead).toEqual([])
})

test('links and headings are found as GitHub finds them', () => {
  const text =
    '# `a` [b](c.md): d/e\n\n## Twice\n\n## Twice\n\n![p](q.png) `[no](link)`\n\n```md\n[no](link)\n```\n'
  const file = markdownFile('page.md', text)
  expect(linksIn(file)).toEqual([
    { target: 'c.md', line: 1 },
    { target: 'q.png', line: 7 },
  ])
  expect([...anchorsIn(file)]).toEqual(['a-b-de', 'twice', 'twice-1'])
})

/** Links to other hosts are left alone, and those of a running server, which begin with a slash. */
function isAlive(path: string, target: string): boolean {
  if (/^(\w+:|\/)/.test(target)) return true
  const [to = '', anchor] = target.split('#')
  const file = to === '' ? path : join(dirname(path), to).replace(/\/$/, '')
  if (anchor === undefined || !file.endsWith('.md')) return existsSync(file)
  return anchors.get(file)?.has(anchor) === true
}
