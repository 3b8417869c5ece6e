import type { Passage } from './sail.ts'

/** Which door took how much, and how fast. */
export function passages(all: readonly Passage[]): string {
  const lines = all.map(({ door, writes, records, seconds }) => {
    const rate = `${count(writes / seconds, 7)} writes/s${count(records / seconds, 8)} records/s`
    return `${door.name.padEnd(11)}${count(records, 7)} records${count(writes, 6)} × ${door.acknowledgement.padEnd(6)}${rate}`
  })
  return lines.join('\n')
}

/** Rows of blocks, deep water hanging down. */
export function profile(depths: readonly number[]): string {
  const deepest = Math.max(...depths)
  const height = 6
  const rows = Array.from({ length: height }, (_, row) => {
    const label = ((deepest / height) * (row + 1)).toFixed(0).padStart(4)
    const cells = depths.map(depth => ((depth / deepest) * height > row + 0.5 ? '█' : ' '))
    return `${label} │${cells.join('')}`
  })
  return rows.join('\n')
}

/** What to try on the running server, at both doors. */
export function commands(url: string, mqttUrl: string, thingToken: string): string {
  const base = `${url}/v2/things/${thingToken}`
  const { hostname, port } = new URL(mqttUrl)
  const publish = `mosquitto_pub -h ${hostname} -p ${port} -q 1 -t things/${thingToken}/write`
  return `
Write through either door, and read what came through both:
  curl -d '{"values":[{"key":"depth","value":9.8}]}' '${base}'
  ${publish} -m '{"values":[{"key":"depth","value":9.9}]}'
  curl '${base}/resources/depth?limit=3'

See what is refused, and why:
  curl -d '{"values":[{"key":"no spaces","value":1}]}' '${base}'
  ${publish} -m '{"values":[{"key":"no spaces","value":1}]}'
  curl '${base}/errors'

Look at the voyage:
  curl '${base}/resources'
  curl '${base}/resources/windSpeed?aggregate=avg,max&interval=30m'
  curl -H 'Accept: text/csv' '${base}/resources/speed' > speed.csv`
}

function count(number: number, width: number): string {
  return Math.round(number).toLocaleString('en').padStart(width)
}
