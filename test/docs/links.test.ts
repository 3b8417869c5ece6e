import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { headingsOf, linksIn, type MarkdownFile, markdownFile, markdownFiles } from './markdown.ts'

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

test('shell blocks have no comment behind a command, which zsh takes for arguments, and no option of GNU alone', () => {
  const found = files
    .filter(({ path }) => /^(README|docs|examples)/.test(path))
    .flatMap(file => {
      const shell = file.blocks.filter(({ language }) => /^(ba|z)?sh$|^console$/.test(language))
      return shell.flatMap(({ text, line }) => faultsOfShell(text, `${file.path}:${line}`))
    })
  expect(found).toEqual([])
  const wrong =
    'a b # c\n# d\n  # e\necho "a # b"\ndate -d x\nls | head -n -3\nsed -i s/a/b/ x\nsed -i.bak s/a/b/ x\n'
  expect(faultsOfShell(wrong, 'x')).toEqual([1, 5, 6, 7].map(line => expect.stringContaining(`x+${line}: `)))
})

function faultsOfShell(text: string, place: string): string[] {
  const gnuOnly =
    /\bdate .*(?:-d|--date)\b|\bhead -n -\d|\bsed -i (?!'')|\bxargs .*-r\b|\breadlink -f|\bstat -c|\bgrep -P/
  return text.split('\n').flatMap((line, index) => {
    const unquoted = line.replace(/'[^']*'|"[^"]*"/g, '')
    const isFaulty = /\S.*\s#\s/.test(unquoted.replace(/^\s*#.*/, '')) || gnuOnly.test(unquoted)
    return isFaulty ? [`${place}+${index + 1}: ${line}`] : []
  })
}

/** Links to other hosts are left alone, and those of a running server, which begin with a slash. */
function isAlive(path: string, target: string): boolean {
  if (/^(\w+:|\/)/.test(target)) return true
  const [to = '', anchor] = target.split('#')
  const file = to === '' ? path : join(dirname(path), to).replace(/\/$/, '')
  if (anchor === undefined || !file.endsWith('.md')) return existsSync(file)
  return anchors.get(file)?.has(anchor) === true
}

/** Names by which GitHub lets a link lead to each heading of a file. */
function anchorsIn({ prose }: MarkdownFile): ReadonlySet<string> {
  const named = [...prose.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name)
  return new Set([...headingsOf(prose).map(({ anchor }) => anchor), ...named])
}
