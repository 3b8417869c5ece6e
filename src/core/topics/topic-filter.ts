/** Maximum number of levels of a topic that Aedes routes. */
const maximumLevels = 100

/** Whether a filter is valid: at most 100 levels; wildcards are whole levels; only the last level can be `#` (MQTT-4.7.1-2, -3). */
export function isTopicFilter(filter: string): boolean {
  const levels = filter.split('/', maximumLevels + 1)
  if (filter === '' || levels.length > maximumLevels) return false
  if (levels.at(-1) === '#') levels.pop()
  return levels.every(level => level === '+' || !/[+#]/.test(level))
}

/**
 * Control characters, noncharacters and surrogates. A client may close the connection if it receives a topic with such a character
 * (MQTT-1.5.3); libmosquitto does so for exactly these characters.
 */
const forbidden = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u

export function hasForbiddenCharacter(topic: string): boolean {
  return forbidden.test(topic)
}

/** Escapes the forbidden characters of a topic or filter for error messages, as in `a\u000d`. */
export function spelledOut(topic: string): string {
  return topic.replace(new RegExp(forbidden, 'gu'), character => {
    const number = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
    return number.length > 4 ? `\\u{${number}}` : `\\u${number}`
  })
}

/** Whether a topic is valid in PUBLISH: no wildcard (MQTT-3.3.2-2), no forbidden character, 1 to 100 levels (MQTT-4.7.3-1). */
export function isTopicName(topic: string): boolean {
  if (topic === '' || /[+#]/.test(topic) || hasForbiddenCharacter(topic)) return false
  return topic.split('/', maximumLevels + 1).length <= maximumLevels
}

/** Whether there is a topic that both filters match. */
export function overlaps(one: string, other: string): boolean {
  const [levels, others] = [one.split('/'), other.split('/')]
  for (let place = 0; ; place++) {
    const [level, another] = [levels[place], others[place]]
    if (level === '#' || another === '#') return true
    if (level === undefined || another === undefined) return level === another
    if (level !== another && level !== '+' && another !== '+') return false
  }
}

/**
 * Whether `outer` matches every topic that `inner` matches. A `#` in `inner` needs a `#` in `outer` at the same or an earlier
 * level. A wildcard in the first level matches no topic that begins with `$` (MQTT-4.7.2-1).
 *
 * @param inner a filter or a topic
 */
export function isWithin(inner: string, outer: string): boolean {
  const ofInner = inner.split('/')
  const ofOuter = outer.split('/')
  if (inner.startsWith('$') && (ofOuter[0] === '+' || ofOuter[0] === '#')) return false
  for (const [place, level] of ofOuter.entries()) {
    if (level === '#') return true
    const own = ofInner[place]
    if (own === undefined || own === '#') return false
    if (level !== '+' && level !== own) return false
  }
  return ofInner.length === ofOuter.length
}
