import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { limitDeclarations } from '../../src/server/options/limit-options.ts'
import { openDocumentedServer } from './documented-server.ts'
import { headingsOf, sectionOf, tableRowsOf } from './markdown.ts'

const contract = readFileSync('docs/contract.md', 'utf8')
/** `4.4`, without the words behind it. */
const sections = headingsOf(contract).flatMap(({ text }) => /^(\d+(?:\.\d+)?)[. ]/.exec(text)?.[1] ?? [])

const folders = ['src', 'web', 'test', 'bench', 'examples', 'docs', 'config', '.']
const sourceFile = /\.(tsx?|mjs|js|lua|py|json|ya?ml|css|html|md|cfg)$/
/** `§7`, `§7.2`, `§4 (d)`, `§4, resend (a) and (b)`: the mark stands for nothing but the contract. */
const citation = /§(\d+(?:\.\d+)*)((?:[, a-z]*\([a-z]\))*)/g

describe('docs/contract.md', () => {
  it('numbers its sections in order', () => {
    const isNext = sections.every((section, place) => {
      const [number = 0, sub = 0] = section.split('.').map(Number)
      const [before = 0, subBefore = 0] = (sections[place - 1] ?? '0').split('.').map(Number)
      return sub === 0 ? number === before + 1 : number === before && sub === subBefore + 1
    })
    expect(sections.length).toBeGreaterThan(30)
    expect(isNext).toBe(true)
  })

  it('has every section that is cited', () => {
    const missing: string[] = []
    const cited = new Set<string>()
    for (const file of files()) {
      const text = readFileSync(file, 'utf8')
      for (const [whole, section = '', letters = ''] of text.matchAll(citation)) {
        cited.add(section)
        if (!hasPlace(section, letters)) missing.push(`${file}: ${whole}`)
      }
    }
    expect(cited.size).toBeGreaterThanOrEqual(10)
    expect(missing).toEqual([])
  })

  it('links in its table of contents to the sections that it has', () => {
    const anchors = headingsOf(contract).map(({ anchor }) => anchor)
    const links = [...contract.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
    expect(links.length).toBe(sections.filter(section => !section.includes('.')).length)
    expect(links.filter(anchor => !anchors.includes(anchor ?? ''))).toEqual([])
  })

  it('says of each sentence that is not yet so in which section it stands', () => {
    const rows = tableRowsOf(sectionOf(contract, '12. Not yet so'))
    const wrong = rows.filter(([section = '']) => !hasPlace(...splitLetters(section)))
    expect(wrong).toEqual([])
  })

  it('has every route and every topic that the server documents', async () => {
    const server = await openDocumentedServer()
    onTestFinished(() => server.close())
    const documented = server.routes.filter(({ config }) => config && 'operation' in config)
    const missing = documented.filter(({ method, url }) => !promises([method].flat(), url))
    expect(documented.length).toBeGreaterThan(25)
    expect(missing.map(({ method, url }) => `${method} ${url}`)).toEqual([])

    const asyncApi = (await (await fetch(`${server.url}/docs/asyncapi`)).json()) as {
      channels: Record<string, { address: string }>
    }
    const topics = Object.values(asyncApi.channels).map(({ address }) =>
      address.replaceAll(/\{(\w+)\}/g, '<$1>'),
    )
    const section = sectionOf(contract, '7.2 Topics')
    expect(topics.length).toBeGreaterThan(5)
    expect(topics.filter(topic => !section.includes(`\`${topic}\``))).toEqual([])
  })

  it('names the option of every limit', () => {
    const section = sectionOf(contract, '9. Limits')
    const unnamed = Object.keys(limitDeclarations).filter(name => !section.includes(`\`${name}\``))
    expect(unnamed).toEqual([])
  })
})

function* files(): Generator<string> {
  for (const folder of folders) {
    for (const entry of readdirSync(folder, { withFileTypes: true, recursive: folder !== '.' })) {
      const path = `${entry.parentPath}/${entry.name}`
      if (entry.isFile() && sourceFile.test(path) && !/node_modules|package-lock/.test(path)) yield path
    }
  }
}

/** @param letters as in `, resend (a) and (b)` */
function hasPlace(section: string, letters: string): boolean {
  const heading = headingsOf(contract).find(
    ({ text }) => text.startsWith(`${section}. `) || text.startsWith(`${section} `),
  )
  if (!heading) return false
  const text = sectionOf(contract, heading.text)
  return [...letters.matchAll(/\(([a-z])\)/g)].every(([, letter]) => text.includes(`\n- (${letter}) `))
}

function splitLetters(place: string): [section: string, letters: string] {
  const [section = '', ...letters] = place.split(' ')
  return [section, letters.join(' ')]
}

/** Whether a row of the contract has the path and the methods. */
function promises(methods: readonly string[], url: string): boolean {
  const path = url.replaceAll(/:\w+|\*/g, '<>')
  return tableRowsOf(contract).some(([first = '']) => {
    const anonymous = first.replaceAll(/<\w+>/g, '<>')
    const isNamed = [anonymous.replaceAll(/[[\]]/g, ''), anonymous.replaceAll(/\[[^\]]*\]/g, '')].some(
      paths => [...paths.matchAll(/\/[^\s`?,]*/g)].some(([named]) => named.replace(/\/$/, '') === path),
    )
    const hasMethods = methods.every(method => new RegExp(`\\b${method}\\b`).test(first))
    return isNamed && (hasMethods || !path.startsWith('/v2'))
  })
}
