import { isThingId, isToken } from '../core/token.ts'
import { isTopicFilter, isTopicName } from '../core/topics/topic-filter.ts'

/** This file is the only place that builds or matches the topics of things (contract §7.2). `ref` is a thing token or thing id. */

/** The topic on which a thing publishes its writes. */
export function writeTopic(ref: string): string {
  return `things/${ref}/write`
}

interface WriteAddress {
  readonly ref: string
  /** Format and levels, such as `value/cellar/temperature`; undefined: the write is as in contract §2. */
  readonly format: string | undefined
}

const writeTopicForm = /^(?:things\/([^/+#]+)\/write(?:\/([^+#]+))?|v2\/things\/([^/+#]+))$/
const thingTopicForm = /^(?:things|v2\/things)\/([^/+#]+)(?:\/|$)/
const ownTopicForm = /^(?:things|v2)\//

/** Whether a topic or filter belongs to Thingwire, even if it is invalid. */
export function isThingwireTopic(topic: string): boolean {
  return ownTopicForm.test(topic)
}

/** What `things/<ref>/write`, `things/<ref>/write/<format>/<levels>` or `v2/things/<ref>` names; undefined for any other topic. */
export function writeAddressOf(topic: string): WriteAddress | undefined {
  const match = writeTopicForm.exec(topic)
  if (!match) return undefined
  const [, ref, format, fieldRef = ''] = match
  return { ref: ref ?? fieldRef, format }
}

/** The ref in a topic of writes; undefined for any other topic. */
export function refOfWriteTopic(topic: string): string | undefined {
  return writeAddressOf(topic)?.ref
}

/** The ref in any topic or filter of one thing; undefined if the ref is a wildcard, or there is none. */
export function refOfThingTopic(topic: string): string | undefined {
  return thingTopicForm.exec(topic)?.[1]
}

/** The same topic or filter with another ref. @param topic a topic or filter with a ref (see `refOfThingTopic`) */
export function withRef(topic: string, ref: string): string {
  const start = topic.startsWith('v2/') ? 'v2/things/'.length : 'things/'.length
  const end = topic.indexOf('/', start)
  return topic.slice(0, start) + ref + (end === -1 ? '' : topic.slice(end))
}

/** The topic on which the records of one resource are sent live; `key` may be the wildcard `+`. */
export function valuesTopic(ref: string, key: string): string {
  return `things/${ref}/values/${key}`
}

/** The topic on which each write is sent live as a whole [field]. */
export function wholeTopic(ref: string): string {
  return `v2/things/${ref}`
}

/** Topic of refused writes. */
export function errorsTopic(ref: string): string {
  return `things/${ref}/errors`
}

/** The topic on which a subscriber gets the server's time, once. */
export function dateTopic(ref: string): string {
  return `things/${ref}/date`
}

/** The topic on which a subscriber gets the limits of the server, once. */
export function limitsTopic(ref: string): string {
  return `things/${ref}/limits`
}

/** The beginning of the topics on which a thing gets the answers to its writes. */
export function answersTopic(ref: string): string {
  return `things/${ref}/answers`
}

const answersForm = /^things\/([^/+#]+)\/answers(?:\/|$)/

/** The ref in `things/<ref>/answers/…`; undefined for any other topic. */
export function refOfAnswersTopic(topic: string): string | undefined {
  return answersForm.exec(topic)?.[1]
}

/** Whether a filter of contract §7.3 selects a topic of answers. */
export function selectsAnswer(filter: string, topic: string): boolean {
  const levels = (parseThingFilter(filter)?.rest ?? '').split('/').slice(1)
  return filter.startsWith('things/') && matches(levels, topic.split('/').slice(2))
}

/** The topic to which a thing subscribes to register itself [field]; `any` is any text that distinguishes the answers. */
export function activationTopic(code: string, any: string): string {
  return `v2/activations/${code}/${any}`
}

const activationForm = /^v2\/activations\/([^/]+)\/(.+)$/

/** The code in `v2/activations/<code>/<any>`; undefined for every other topic and for a filter with wildcards. */
export function activationCodeOf(topic: string): string | undefined {
  return isTopicName(topic) ? activationForm.exec(topic)?.[1] : undefined
}

export interface ThingFilter {
  /** Thing token, thing id, or `+` for every thing. */
  readonly ref: string
  /** The rest of the filter after the ref, for example `/values/+`; may be empty. */
  readonly rest: string
}

const filterForm = /^(?:things|v2\/things)\/([^/]+)((?:\/.*)?)$/

/** Parses a filter of contract §7.3; undefined for all other filters, for example `things/#`, `+/x`, `things/a+b/x`. */
export function parseThingFilter(filter: string): ThingFilter | undefined {
  if (!isTopicFilter(filter)) return undefined
  const [, ref = '', rest = ''] = filterForm.exec(filter) ?? []
  if (ref !== '+' && !isToken(ref) && !isThingId(ref)) return undefined
  return { ref, rest }
}

/** The messages of a thing that a filter selects. */
export interface Selection {
  /** Messages on `values/<key>`: for this key, or for every key if `key` is absent; undefined if none are selected. */
  readonly values: { readonly key?: string } | undefined
  readonly whole: boolean
  readonly errors: boolean
  readonly date: boolean
  /** Selected only if the filter names `limits`: a client that subscribes to all topics of a thing wants its records. */
  readonly limits: boolean
}

/** @param filter a filter that `parseThingFilter` accepts */
export function selectionOf(filter: string): Selection {
  const { rest = '' } = parseThingFilter(filter) ?? {}
  const levels = rest.split('/').slice(1)
  if (filter.startsWith('v2/')) {
    return { values: undefined, whole: matches(levels, []), errors: false, date: false, limits: false }
  }
  return {
    values: selectedValues(levels),
    whole: false,
    errors: matches(levels, ['errors']),
    date: matches(levels, ['date']),
    limits: rest === '/limits',
  }
}

/** A key that no resource can have: a filter that matches it matches every key. */
const anyKey = '/'

function selectedValues(levels: readonly string[]): Selection['values'] {
  if (matches(levels, ['values', anyKey])) return {}
  const key = levels[1]
  return key !== undefined && matches(levels, ['values', key]) ? { key } : undefined
}

/** Whether the levels of a filter match the levels of a topic (MQTT-4.7.1-2, -3). */
function matches(filter: readonly string[], topic: readonly string[]): boolean {
  const end = filter.indexOf('#')
  if (end === -1 ? filter.length !== topic.length : topic.length < end) return false
  const compared = end === -1 ? filter : filter.slice(0, end)
  return compared.every((level, place) => level === '+' || level === topic[place])
}
