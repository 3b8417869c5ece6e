const prefixes = ['', ' k', ' M', ' G', ' T']
const binaryPrefixes = [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB']

/** A count with at most three digits, for example `0`, `0.2`, `12.4` or `1.24 k`. */
export function formatCount(count: number): string {
  return scaled(count, 1000, prefixes)
}

/** A rate, for example `0/s` or `12.4/s`. */
export function formatRate(perSecond: number): string {
  return `${formatCount(perSecond)}/s`
}

/** A size, for example `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  return scaled(bytes, 1024, binaryPrefixes)
}

/** A duration, for example `0 ms`, `0.4 ms` or `12 s`. */
export function formatSeconds(seconds: number): string {
  return seconds < 1 ? `${digits(seconds * 1000)} ms` : `${digits(seconds)} s`
}

function scaled(number: number, step: number, units: readonly string[]): string {
  let size = number
  let place = 0
  while (Math.round(size) >= step && place < units.length - 1) {
    size /= step
    place++
  }
  return `${digits(size)}${units[place] ?? ''}`
}

function digits(number: number): string {
  const decimals = number >= 100 || Number.isInteger(number) ? 0 : number >= 10 ? 1 : 2
  return String(Number(number.toFixed(decimals)))
}
