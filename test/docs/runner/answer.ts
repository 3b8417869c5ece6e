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
  const isLogLeftOut = shown.some(isRest) && !shown.some(isOfLog)
  const lines = trimmed(isLogLeftOut ? said.filter(line => !isOfLog(line)) : said)
  return (isOrdered ? isAnswerInOrder : isAnswerInAnyOrder)(trimmed(shown), lines, others)
}

function isOfLog(line: string): boolean {
  return line.startsWith('{"level":')
}

function isAnswerInOrder(
  [line, ...rest]: readonly string[],
  said: readonly string[],
  others: readonly string[],
): boolean {
  if (line === undefined) return said.length === 0
  if (isRest(line)) {
    return (
      rest.length === 0 || [...said, ''].some((_, from) => isAnswerInOrder(rest, said.slice(from), others))
    )
  }
  if (isLine(line, said[0]) && isAnswerInOrder(rest, said.slice(1), others)) return true
  const place = others.findIndex(other => isLine(line, other))
  return place !== -1 && isAnswerInOrder(rest, said, others.toSpliced(place, 1))
}

function isAnswerInAnyOrder(
  shown: readonly string[],
  said: readonly string[],
  others: readonly string[],
): boolean {
  const [own, left] = [[...said], [...others]]
  const isThere = shown.every(line => isRest(line) || takeFrom(own, line) || takeFrom(left, line))
  return isThere && (own.length === 0 || shown.some(isRest))
}

function takeFrom(lines: string[], shown: string): boolean {
  const place = lines.findIndex(line => isLine(shown, line))
  if (place !== -1) lines.splice(place, 1)
  return place !== -1
}

function isRest(line: string): boolean {
  return /^\s*(…|\.\.\.)\s*$/.test(line)
}

function isLine(shown: string, said: string | undefined): boolean {
  if (said === undefined) return false
  const parts = shown.trimEnd().split(/…|\.\.\./)
  const pattern = parts.map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*')
  return new RegExp(`^${pattern}$`).test(said.trimEnd())
}

/** Without empty lines at either end. */
function trimmed(lines: readonly string[]): readonly string[] {
  const isFull = (line: string) => line.trim() !== ''
  return lines.slice(Math.max(0, lines.findIndex(isFull)), lines.findLastIndex(isFull) + 1)
}
