/** Significant digits of a number that does not fit as it is. */
const shownDigits = 7
const longestNumber = 12

/** A value on one line: numbers cut to a readable length, text as it is, the rest as JSON. */
export function formatValue(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** As it is if it is short, or an integer; else rounded, with a sign that says so: ≈0.3333333. */
export function formatNumber(value: number): string {
  const text = String(value)
  if (text.length <= longestNumber || Number.isSafeInteger(value)) return text
  const rounded = roundedNumber(value)
  const roundedText = String(rounded)
  const shown = roundedText.length <= longestNumber ? roundedText : rounded.toExponential()
  return rounded === value ? shown : `≈${shown}`
}

/** To 7 significant digits, of which the integer part may have more. */
function roundedNumber(value: number): number {
  const integer = Math.round(value)
  const isLonger = Number.isSafeInteger(integer) && String(Math.abs(integer)).length > shownDigits
  return isLonger ? integer : Number(value.toPrecision(shownDigits))
}
