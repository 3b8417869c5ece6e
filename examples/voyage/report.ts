import type { Passage } from './sail.ts'
import type { VoyageRecord } from './voyage.ts'

/** Which door took how much, and how fast. */
export function passages(all: readonly Passage[]): string {
  const lines = all.map(({ door, writes, records, seconds }) => {
    const rate = `${count(writes.length / seconds, 7)} writes/s${count(records / seconds, 8)} records/s`
    const taken = `${count(records, 7)} records${count(writes.length, 6)} × ${door.acknowledgement.padEnd(6)}`
    return `${door.name.padEnd(11)}${taken}${rate}`
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

/** Where a record was measured, such as `60.084517° N 23.539100° E`. */
export function place(record: VoyageRecord | undefined): string {
  if (!record) return 'nowhere'
  const { lat, long } = record.geo
  const degrees = (angle: number) => `${Math.abs(angle).toFixed(6)}°`
  return `${degrees(lat)} ${lat < 0 ? 'S' : 'N'} ${degrees(long)} ${long < 0 ? 'W' : 'E'}`
}

/** What to try on the running server, at both doors. Those that watch go on until Ctrl-C. */
export function commands(url: string, mqttUrl: string, thingToken: string): string {
  const base = `${url}/v2/things/${thingToken}`
  const { hostname, port } = new URL(mqttUrl)
  const broker = `-h ${hostname} -p ${port} -q 1`
  const publish = `mosquitto_pub ${broker} -t things/${thingToken}/write`
  return `
Watch it in a terminal of its own, over MQTT (which begins with what is there) or over HTTP:
  mosquitto_sub ${broker} -t 'things/${thingToken}/values/#' -v
  curl -N -H 'Accept: text/event-stream' '${base}'

Write through either door, and read what came through both:
  curl -d '{"values":[{"key":"depth","value":9.8}]}' '${base}'
  ${publish} -m '{"values":[{"key":"depth","value":9.9}]}'
  curl '${base}/resources/depth?limit=3'

Move the boat, and change its settings:
  curl -d '{"values":[{"key":"$geo","value":[23.4,59.9]}]}' '${base}'
  ${publish} -m '{"values":[{"key":"$settings.alarm.depth","value":3}]}'
  curl '${base}/resources/$geo'

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
