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

/** Code in the text of a file, each piece with its line. */
export function codeIn({ prose }: MarkdownFile): readonly { readonly code: string; readonly line: number }[] {
  const pieces = prose.matchAll(/(`+)(?!`)([^`]+?)\1(?!`)/g)
  return [...pieces].map(({ 2: code = '', index }) => ({
    code: code.replaceAll(/\s*\n\s*/g, ' ').replaceAll('\\|', '|'),
    line: lineOf(prose, index),
  }))
}

/** Names by which GitHub lets a link lead to each heading of a file. */
export function anchorsIn({ prose }: MarkdownFile): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const name = slug(heading)
    let anchor = name
    for (let copy = 1; anchors.has(anchor); copy++) anchor = `${name}-${copy}`
    anchors.add(anchor)
  }
  for (const [, name = ''] of prose.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(name)
  return anchors
}

function slug(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-')
}
