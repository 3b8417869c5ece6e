/** Whether an MQTT topic matches a filter (MQTT 3.1.1, 4.7.1): `+` matches one level, a final `#` any number of levels. */
export function matchesFilter(filter: string, topic: string): boolean {
  const wanted = filter.split('/')
  const levels = topic.split('/')
  if (wanted.at(-1) === '#') {
    wanted.pop()
    if (levels.length < wanted.length) return false
    levels.length = wanted.length
  }
  return wanted.length === levels.length && wanted.every((level, at) => level === '+' || level === levels[at])
}
