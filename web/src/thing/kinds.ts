/** What true and false say of a resource, by its kinds: device classes of Home Assistant's binary sensors and switches. */
const words: readonly (readonly [yes: string, no: string, ...kinds: string[]])[] = [
  ['open', 'closed', 'door', 'garage_door', 'opening', 'window'],
  ['on', 'off', 'power', 'switch', 'outlet', 'light'],
  ['detected', 'clear', 'gas', 'motion', 'smoke', 'sound', 'carbon_monoxide', 'tamper', 'vibration'],
  ['low', 'normal', 'battery'],
  ['charging', 'not charging', 'battery_charging'],
  ['cold', 'normal', 'cold'],
  ['connected', 'disconnected', 'connectivity'],
  ['hot', 'normal', 'heat'],
  ['unlocked', 'locked', 'lock'],
  ['wet', 'dry', 'moisture'],
  ['moving', 'still', 'moving'],
  ['occupied', 'clear', 'occupancy'],
  ['plugged in', 'unplugged', 'plug'],
  ['home', 'away', 'presence'],
  ['problem', 'OK', 'problem'],
  ['running', 'not running', 'running'],
  ['unsafe', 'safe', 'safety'],
  ['update available', 'up to date', 'update'],
]
const byKind = new Map(words.flatMap(([yes, no, ...kinds]) => kinds.map(kind => [kind, [yes, no]] as const)))

/** The kinds whose booleans have words. */
export const kindsWithWords: readonly string[] = [...byKind.keys()].sort()

/** What a boolean says of a resource of this kind, for example `open` of a door; undefined if the kind says nothing. */
export function wordOf(value: boolean, kind: string | undefined): string | undefined {
  const [yes, no] = byKind.get(kind ?? '') ?? []
  return value ? yes : no
}
