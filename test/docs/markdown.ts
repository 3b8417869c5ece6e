/** A heading of a page. */
export interface Heading {
  /** 1 for `#`. */
  readonly level: number
  readonly text: string
  /** As GitHub links to it: `#not-yet-so` less the `#`. */
  readonly anchor: string
}

/** Headings in order; what stands in a fenced block is none. */
export function headingsOf(page: string): Heading[] {
  return prose(page).flatMap(line => {
    const [, marks = '', text = ''] = /^(#{1,6}) +(.*)$/.exec(line) ?? []
    return marks === '' ? [] : [{ level: marks.length, text, anchor: anchorOf(text) }]
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

function prose(page: string): string[] {
  let isFenced = false
  return page.split('\n').filter(line => {
    if (line.startsWith('```')) isFenced = !isFenced
    return !isFenced
  })
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}
