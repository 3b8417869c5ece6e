import { isTopicName } from '../core/topics/topic-filter.ts'
import type { Message, Outcome, SourceFormat, SourceReader } from './format.ts'
import { decode, nothing, unreadable } from './payload.ts'
import { bareReading, flatten } from './reading.ts'

/**
 * Topics of one's own. The pattern `garden/{device}/{key}` says which level of a topic names the device and which ones the key: on
 * `garden/pump/inlet/pressure`, the device `pump` sends `inlet.pressure`. `{key}` is the last level of a pattern and stands for all levels
 * that follow; without it a bare value has the key `value`. `+` is any level. An object is read member by member.
 *
 * @throws RangeError with the text of `patternMistake`
 */
export function levels(pattern: string): SourceFormat {
  const mistake = patternMistake(pattern)
  if (mistake !== undefined) throw new RangeError(mistake)
  return { name: 'levels', begin: () => new LevelsReader(pattern.split('/')) }
}

/** Why a text is no pattern; undefined if it is one. */
export function patternMistake(pattern: string): string | undefined {
  const wanted = 'pattern must be'
  const names = pattern.split('/')
  const placed = (name: string) => names.filter(level => level === name).length
  if (!isTopicName(pattern.replaceAll('+', '_'))) return `${wanted} a topic, but it is none`
  const wrong = names.find(level => /[+{}]/.test(level) && !/^(?:\+|\{device\}|\{key\})$/.test(level))
  if (wrong !== undefined) {
    return `${wanted} made of literal levels, +, {device} and {key}, but it is made with the level ${wrong}`
  }
  if (placed('{device}') !== 1) {
    return `${wanted} a topic with one level {device}, but it is one with ${placed('{device}')}`
  }
  if (placed('{key}') > 1 || (placed('{key}') === 1 && names.at(-1) !== '{key}')) {
    return `${wanted} a topic with {key} as its last level alone, but it is one with {key} before`
  }
  return undefined
}

class LevelsReader implements SourceReader {
  readonly #pattern: readonly string[]
  readonly #hasKey: boolean

  constructor(pattern: readonly string[]) {
    this.#hasKey = pattern.at(-1) === '{key}'
    this.#pattern = this.#hasKey ? pattern.slice(0, -1) : pattern
  }

  knows(topic: string): 'form' | undefined {
    return this.#match(topic) && 'form'
  }

  read({ topic, payload }: Message): Outcome {
    const match = this.#match(topic)
    if (!match) return nothing
    const decoded = decode(payload)
    if (!decoded) return unreadable(decoded, 'JSON or a value')
    const { json, text } = decoded
    // A client that cuts its messages would otherwise turn readings into texts.
    if (json === undefined && /^[{[]/.test(text)) return unreadable(decoded, 'JSON if it begins with { or [')
    const value = typeof json === 'object' ? json : bareReading(typeof json === 'string' ? json : text)
    const records = decoded.members ? flatten(value, match.key) : flatten(value, match.key || 'value')
    return records.length === 0 ? nothing : { readings: [{ device: match.device, records }] }
  }

  learn(): void {}

  describe(): undefined {}

  /** Device and key in a topic; undefined if the topic does not match the pattern. */
  #match(topic: string): { device: string; key: string } | undefined {
    const names = topic.split('/')
    const pattern = this.#pattern
    const isLong = this.#hasKey ? names.length > pattern.length : names.length === pattern.length
    // A wildcard in the first level matches no topic that begins with `$` (MQTT-4.7.2-1).
    if (!isLong || (topic.startsWith('$') && pattern[0] !== names[0])) return undefined
    if (!pattern.every((level, place) => /^(?:\+|\{device\})$/.test(level) || level === names[place])) {
      return undefined
    }
    const device = names[pattern.indexOf('{device}')]
    if (device === undefined || device === '') return undefined
    return {
      device,
      key: names
        .slice(pattern.length)
        .filter(level => level !== '')
        .join('.'),
    }
  }
}
