/**
 * Whether a program said what a page shows: line by line; `…` or `...` stands for any characters, and alone on its line for
 * any number of lines. A page that leaves lines out leaves out those of the log wherever they are: their place among what is said
 * on stdout is a matter of chance.
 *
 * @param shown lines of the page
 * @param said lines of the commands themselves, all of which have to be shown
 * @param others lines of programs in the background, which may be shown
 * @param isOrdered false where a program in the background says some of `said`, and nothing gives the two an order
 */
export function isAnswer(
  shown: readonly string[],
  said: readonly string[],
  others: readonly string[] = [],
  isOrdered = true,
): boolean {
  const left = [...others]
  const isLogLeftOut = shown.some(isRest) && !shown.some(isOfLog)
  const lines = trimmed(isLogLeftOut ? said.filter(line => !isOfLog(line)) : said)
  if (!isOrdered) return isAnswerInAnyOrder(trimmed(shown), lines, left)
  const parts = partsOf(trimmed(shown))
  let from = 0
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    const starts = index === 0 ? [from] : range(from, lines.length)
    let end: number | undefined
    for (const start of starts) {
      const rest = [...left]
      end = endOfPart(part, lines, start, rest)
      if (end !== undefined && isLast && end !== lines.length) end = undefined
      if (end === undefined) continue
      left.splice(0, left.length, ...rest)
      break
    }
    if (end === undefined) return false
    from = end
  }
  return true
}

function isOfLog(line: string): boolean {
  return line.startsWith('{"level":')
}

function isAnswerInAnyOrder(shown: readonly string[], said: readonly string[], others: string[]): boolean {
  const own = [...said]
  for (const line of shown) {
    if (isRest(line)) continue
    if (!takeFrom(own, line) && !takeFrom(others, line)) return false
  }
  return own.length === 0 || shown.some(isRest)
}

/** Runs of lines between those that stand for any number of lines. */
function partsOf(shown: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = [[]]
  for (const line of shown) {
    if (isRest(line)) parts.push([])
    else parts[parts.length - 1]?.push(line)
  }
  return parts
}

/** @returns the place behind the part if it stands at `from`; lines of others that it needs are taken out of `others` */
function endOfPart(
  part: readonly string[],
  said: readonly string[],
  from: number,
  others: string[],
): number | undefined {
  let at = from
  for (const line of part) {
    if (at < said.length && isLine(line, said[at] ?? '')) at++
    else if (!takeFrom(others, line)) return undefined
  }
  return at
}

function takeFrom(lines: string[], shown: string): boolean {
  const place = lines.findIndex(line => isLine(shown, line))
  if (place !== -1) lines.splice(place, 1)
  return place !== -1
}

function isRest(line: string): boolean {
  return /^\s*(…|\.\.\.)\s*$/.test(line)
}

function isLine(shown: string, said: string): boolean {
  const parts = shown.trimEnd().split(/…|\.\.\./)
  const pattern = parts.map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*')
  return new RegExp(`^${pattern}$`).test(said.trimEnd())
}

/** Without empty lines at either end. */
function trimmed(lines: readonly string[]): readonly string[] {
  const isFull = (line: string) => line.trim() !== ''
  return lines.slice(Math.max(0, lines.findIndex(isFull)), lines.findLastIndex(isFull) + 1)
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
