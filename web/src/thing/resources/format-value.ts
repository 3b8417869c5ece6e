/** Number of significant digits of a number that is too long to be shown unchanged. */
const shownDigits = 7
const longestNumber = 12

/** A value on one line: a number in readable length, a text unchanged, any other value as JSON. */
export function formatValue(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * A short number or an integer unchanged; any other number rounded and marked, for example ≈0.3333333.
 *
 * @param decimals the number of decimals that the user wants; numbers that are too long with them are formatted without
 */
export function formatNumber(value: number, decimals?: number): string {
  if (decimals !== undefined && Math.abs(value) < 10 ** longestNumber) return value.toFixed(decimals)
  const text = String(value)
  if (text.length <= longestNumber || Number.isSafeInteger(value)) return text
  const rounded = roundedNumber(value)
  const roundedText = String(rounded)
  const shown = roundedText.length <= longestNumber ? roundedText : rounded.toExponential()
  return rounded === value ? shown : `≈${shown}`
}

/** Decimals that a number is shown with; undefined if it has an exponent. */
export function decimalsOf(value: number): number | undefined {
  return /^≈?-?\d+\.?(\d*)$/.exec(formatNumber(value))?.[1]?.length
}

/** Rounds to 7 significant digits, but keeps all digits of the integer part. */
function roundedNumber(value: number): number {
  const integer = Math.round(value)
  const isLonger = Number.isSafeInteger(integer) && String(Math.abs(integer)).length > shownDigits
  return isLonger ? integer : Number(value.toPrecision(shownDigits))
}
