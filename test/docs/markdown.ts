import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** A file of Markdown, its code apart from its text. */
export interface MarkdownFile {
  readonly path: string
  /** Without fenced blocks; line numbers are as in the file. */
  readonly prose: string
  readonly blocks: readonly { readonly language: string; readonly text: string; readonly line: number }[]
}

/** Every file of Markdown that git tracks or would track. */
export function markdownFiles(): readonly MarkdownFile[] {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    encoding: 'utf8',
  })
  const paths = [...new Set(list.split('\n'))].filter(path => path !== '' && existsSync(path))
  return paths.map(path => markdownFile(path, readFileSync(path, 'utf8')))
}

export function markdownFile(path: string, text: string): MarkdownFile {
  const blocks: { language: string; text: string; line: number }[] = []
  const prose = text.replace(/^( *)```(\S*)[^\n]*\n(.*?)^\1```$/gms, (all, _indent, language, inner, at) => {
    blocks.push({ language, text: inner, line: lineOf(text, at) + 1 })
    return all.replace(/[^\n]/g, '')
  })
  return { path, prose, blocks }
}

/** From 1. */
export function lineOf(text: string, place: number): number {
  return text.slice(0, place).split('\n').length
}

/** Targets of links and pictures, each with its line. */
export function linksIn({
  prose,
}: MarkdownFile): readonly { readonly target: string; readonly line: number }[] {
  const text = prose.replace(/(`+)(?!`)([^`]+?)\1(?!`)/g, all => all.replace(/[^\n]/g, ' '))
  const inline = text.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)
  const named = text.matchAll(/^\[[^\]]+\]: <?([^\s>]+)/gm)
  const html = text.matchAll(/<(?:a|img)\b[^>]*\b(?:href|src)="([^"]+)"/g)
  return [...inline, ...named, ...html].map(({ 1: target = '', index }) => ({
    target,
    line: lineOf(text, index),
  }))
}

/** Headings in order, `anchor` as GitHub links to them: `#not-yet-so` less the `#`. What stands in a fenced block is none. */
export function headingsOf(page: string) {
  const anchors = new Set<string>()
  return [...markdownFile('', page).prose.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, text = '']) => {
    const name = slug(text)
    let anchor = name
    for (let copy = 1; anchors.has(anchor); copy++) anchor = `${name}-${copy}`
    anchors.add(anchor)
    return { text, anchor }
  })
}

/** What stands under a heading up to the next one of its level or above, with the headings in between. */
export function sectionOf(page: string, heading: string): string {
  const lines = page.split('\n')
  const start = lines.findIndex(line => line.replace(/^#+ +/, '') === heading && line.startsWith('#'))
  if (start === -1) throw new Error(`there is no heading "${heading}"`)
  const level = lines[start]?.indexOf(' ') ?? 0
  const length = lines.slice(start + 1).findIndex(line => /^#+ /.test(line) && line.indexOf(' ') <= level)
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n')
}

/** Rows of the tables of a text, cell by cell, without heads. */
export function tableRowsOf(text: string): string[][] {
  const lines = text.split('\n')
  return lines.flatMap((line, place) => {
    const isHead = /^\|[-:| ]+\|$/.test(lines[place + 1] ?? '')
    if (!line.startsWith('|') || isHead || /^\|[-:| ]+\|$/.test(line)) return []
    const cells = line.split(/(?<!\\)\|/).slice(1, -1)
    return [cells.map(cell => cell.replaceAll('\\|', '|').trim())]
  })
}

function slug(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-')
}
