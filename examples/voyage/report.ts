import type { Passage } from './sail.ts'
import type { ActivatedThing } from './thing.ts'
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

/** Where to look, and with what. */
export function signIn(url: string, { thingId, thingToken }: ActivatedThing, adminKeyFile: string): string {
  return `
Open the dashboard, and sign in with the token of the boat:

  ${url}/#/things/${thingId}?resource=depth
  ${thingToken}

With the admin key you see the operator's page. It is in
  ${adminKeyFile}`.trimStart()
}

/** What to try on the running server, at both doors. Those that watch go on until Ctrl-C. */
export function commands(url: string, mqttUrl: string, thingToken: string): string {
  const { hostname, port } = new URL(mqttUrl)
  const broker = `-h ${hostname} -p ${port} -q 1`
  return `
What to try in another terminal, after these lines:
  TOKEN=${thingToken}
  BOAT=${url}/v2/things/$TOKEN

Watch it over MQTT (which begins with what is there) or over HTTP:
  mosquitto_sub ${broker} -v -t "things/$TOKEN/values/#"
  curl -N -H 'Accept: text/event-stream' $BOAT

Write through either door, and read what came through both:
  curl -d '{"values":[{"key":"fuel","value":9.8}]}' $BOAT
  mosquitto_pub ${broker} -t things/$TOKEN/write \\
    -m '{"values":[{"key":"fuel","value":9.9}]}'
  curl "$BOAT/resources/fuel?limit=3"

Change its settings:
  mosquitto_pub ${broker} -t things/$TOKEN/write \\
    -m '{"values":[{"key":"$settings.alarm.depth","value":3}]}'
  curl "$BOAT/resources/\\$settings"

See what is refused, and why:
  curl -d '{"values":[{"key":"no spaces","value":1}]}' $BOAT
  mosquitto_pub ${broker} -t things/$TOKEN/write \\
    -m '{"values":[{"key":"no spaces","value":1}]}'
  curl $BOAT/errors

Look at the voyage:
  curl $BOAT/resources
  curl "$BOAT/resources/windSpeed?aggregate=avg,max&interval=30m"
  curl -H 'Accept: text/csv' $BOAT/resources/speed > speed.csv`
}

/** @returns such as `4:01:40`, hours, minutes and seconds */
export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  const two = (number: number) => String(Math.floor(number) % 60).padStart(2, '0')
  return `${Math.floor(seconds / 3600)}:${two(seconds / 60)}:${two(seconds)}`
}

/** With commas between thousands. */
export function count(number: number, width = 0): string {
  return Math.round(number).toLocaleString('en').padStart(width)
}
