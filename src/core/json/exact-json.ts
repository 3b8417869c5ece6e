/** Thrown for JSON that loses data when parsed: two members of one object have the same name, or a number is too large (1e400). */
export class LossyJson extends Error {}

const string = /"[^"\\]*(?:\\.[^"\\]*)*"/g
/** Matches a string (with the colon after it if it is a member name), a number, or a brace of an object. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}]/g

/**
 * Parses JSON like JSON.parse, but without loss: an integer that a 64-bit float cannot represent (`isInexact`) becomes a string.
 *
 * @throws SyntaxError if the text is not JSON
 * @throws LossyJson if a member name is repeated or a number is too large
 */
export function parseExactly(json: string): unknown {
  const value: unknown = JSON.parse(json)
  const bare = json.replace(string, '')
  // Scanning token by token takes five times as long as this check, and hardly any JSON needs it.
  if (colonsOf(bare) > colonsOf(JSON.stringify(value).replace(string, ''))) refuseRepeated(json)
  if (!/\d{16}|e\+?\d{3}/i.test(bare)) return value
  const spelled = json.replace(token, found => {
    if (/^[-\d]/.test(found) && !Number.isFinite(Number(found)))
      throw new LossyJson(
        `a number is too large for a 64-bit float (number_out_of_range): ${found.slice(0, 40)}`,
      )
    return isInexact(found) ? `"${found}"` : found
  })
  return JSON.parse(spelled)
}

/** Whether an integer changes when stored as a 64-bit float. For example, 9007199254740993 and most SIM card numbers do. */
export function isInexact(number: string): boolean {
  return /^-?\d{16,}$/.test(number) && significantDigits(number) !== significantDigits(String(Number(number)))
}

/** The digits without trailing zeros: `12` for both `1200` and `1.2e+3`. */
function significantDigits(number: string): string {
  return number.replace(/e.*/, '').replace('.', '').replace(/0+$/, '')
}

function colonsOf(bare: string): number {
  return bare.split(':').length - 1
}

function refuseRepeated(json: string): void {
  const open: Set<unknown>[] = []
  for (const [found, colon] of json.matchAll(token)) {
    if (found === '{') open.push(new Set())
    else if (found === '}') open.pop()
    else if (colon !== undefined) {
      const name = JSON.parse(found.slice(0, -colon.length)) as string
      if (open.at(-1)?.has(name))
        throw new LossyJson(`the member ${JSON.stringify(name)} appears twice in one object: remove one`)
      open.at(-1)?.add(name)
    }
  }
}
