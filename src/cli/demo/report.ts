import { grouped } from '../output.ts'
import type { Passage } from './history.ts'
import type { InstrumentRecord } from './instruments.ts'

/** The number of stored records, and of stored records per second. */
export function rate({ writes, seconds }: Passage): [records: string, perSecond: string] {
  const records = writes
    .filter(({ measurement }) => !measurement.isRefused)
    .reduce((sum, { measurement }) => sum + measurement.records.length, 0)
  return [grouped(records), grouped(Math.round(records / seconds))]
}

/** Where a record was measured, such as `60.084517° N 23.539100° E`. */
export function place(record: InstrumentRecord | undefined): string {
  if (!record?.geo) return 'nowhere'
  const { lat, long } = record.geo
  const degrees = (angle: number) => `${Math.abs(angle).toFixed(6)}°`
  return `${degrees(lat)} ${lat < 0 ? 'S' : 'N'} ${degrees(long)} ${long < 0 ? 'W' : 'E'}`
}

/** A text with three commands to try on the running server. The last command runs until Ctrl-C. */
export function commands(url: string, { thingToken }: { readonly thingToken: string }): string {
  return `Try these in another terminal.

  TOKEN=${thingToken}
  SOUNDER=${url}/v2/things/$TOKEN

Read the newest three depths:
  curl "$SOUNDER/resources/depth_m?limit=3"

Write a reading of your own:
  curl -d '{"values":[{"key":"battery_v","value":12.6}]}' $SOUNDER

Watch the readings arrive:
  curl -N -H 'Accept: text/event-stream' $SOUNDER`
}

/** A duration such as `0:01:23`. @param milliseconds a negative duration is shown as `0:00:00` */
export function clock(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map(part => String(part).padStart(2, '0'))
  return [Math.floor(seconds / 3600), ...parts].join(':')
}
