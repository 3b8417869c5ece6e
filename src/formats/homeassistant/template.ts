import { keyOf } from '../reading.ts'

/** Names and indexes from the top of a JSON payload to a member; empty: the payload itself. */
export type Path = readonly (string | number)[]

/** What a template reads of a message: one member, or the reason why it is not read. */
export type TemplateReading = (Member & { /** The names of the path. */ readonly key: string }) | Refusal

interface Member {
  readonly path: Path
  /** Whether the result may be another value than the member. */
  readonly computes: boolean
  /** Decimals that the template rounds to. */
  readonly decimals?: number
}

interface Refusal {
  readonly reason: string
}

/** Maximum length of a template, characters. The longest of the samples has 300. */
const longestTemplate = 1_024
const deepestParentheses = 8

/** Filters that leave a number as it is in its unit, and a text as it is: rounding and defaults do. */
const harmless = new Set(['float', 'int', 'round', 'default', 'd', 'string', 'truncate', 'is_defined'])
/** Functions and variables of Home Assistant that read something besides the message. */
const foreign =
  /(?<![\w.'"])(?:(?:now|utcnow|today_at|states|state_attr|is_state|is_state_attr|has_value)\s*\(|states\.\w+\.\w|this\.|trigger\.)/

const mention = /(?<![\w.'"])(?:value_json|value)(?![\w'"])/g
const root = /value_json\b|value\b/y
const member =
  /\s*(?:\.\s*get\(\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*(?:,[^()]*)?\)|\.(\d+)\b|\.([A-Za-z_]\w*)\b(?!\s*\()|\[\s*(?:'([^'\\]*)'|"([^"\\]*)"|(\d+))\s*\])/y
const filter = /\s*\|\s*(\w+)\s*(?:\(([^()]*)\))?/y
const literal = /\s*(?:'[^'\\]*'|"[^"\\]*"|-?[\d.]+|none|true|false)\s*/iy

/**
 * Looks at a value template of Home Assistant for the one member that it reads. The template is never run: `{{ value_json.a | float }}`
 * reads `a`, and so does `{{ value_json.a / 1000 }}`, which computes another value.
 */
export function readTemplate(template: string): TemplateReading {
  if (template.length > longestTemplate)
    return { reason: `must be at most ${longestTemplate} characters, but it is ${template.length}` }
  const known = recent.get(template)
  if (known) return known
  if (recent.size >= mostRecent) recent.clear()
  const found = new Look(template).plain() ?? mentioned(template)
  const reading = 'reason' in found ? found : { ...found, key: keyOf(found.path.join('.')) }
  recent.set(template, reading)
  return reading
}

/** Devices of a kind announce the same templates, so that most have been looked at before. */
const recent = new Map<string, TemplateReading>()
const mostRecent = 1_000

/** Recognizes templates that give a member as it is. Each method goes on in the text if it finds its part, and stays if it does not. */
class Look {
  readonly #text: string
  #at = 0
  #decimals: number | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** `{{ operand }}`, `{{ operand if guards else literal }}`, `{% if guards %}{{ operand }}{% endif %}` */
  plain(): Member | undefined {
    const before = this.#take(/\s*\{%[-+]?\s*if\b/y) ? this.#guards() : []
    if (!before || (this.#at > 0 && !this.#take(/\s*[-+]?%\}/y))) return undefined
    const isBlock = this.#at > 0
    if (!this.#take(/\s*\{\{[-+]?/y)) return undefined
    const path = this.#operand(0)
    const inside = this.#take(/\s*if\b/y) ? this.#guards() : []
    if (!path || !inside) return undefined
    if (inside.length > 0 && this.#take(/\s*else\b/y) && !this.#take(literal)) return undefined
    if (!this.#take(/\s*[-+]?\}\}\s*/y)) return undefined
    if (isBlock && !this.#take(/(?:\{%[-+]?\s*else\s*[-+]?%\}[^{}]*)?\{%[-+]?\s*endif\s*[-+]?%\}\s*/y))
      return undefined
    if (this.#at < this.#text.length || ![...before, ...inside].every(guard => isWithin(guard, path)))
      return undefined
    return { path, computes: false, ...(this.#decimals !== undefined && { decimals: this.#decimals }) }
  }

  /** A member with filters, perhaps in parentheses or in `float()`. */
  #operand(depth: number): Path | undefined {
    const isNested = depth < deepestParentheses && this.#take(/\s*(?:(?:float|int)\s*)?\(/y) !== null
    const path = isNested ? this.#operand(depth + 1) : this.#reference()
    if (!path) return undefined
    if (isNested && this.#take(/\s*,/y) && !this.#take(literal)) return undefined
    if (isNested && !this.#take(/\s*\)/y)) return undefined
    for (let found = this.#take(filter); found; found = this.#take(filter)) {
      const [, name = '', input = ''] = found
      if (!harmless.has(name) || /\bvalue|base|states/.test(input) || (name === 'int' && input.includes(',')))
        return undefined
      if (name === 'int') this.#decimals = 0
      if (name === 'round') this.#decimals = Number(/^\s*(?:precision\s*=\s*)?(\d*)/.exec(input)?.[1])
    }
    return path
  }

  #reference(): Path | undefined {
    return this.#take(/\s*/y) && this.#take(root) ? this.#members() : undefined
  }

  #members(): Path {
    const path: (string | number)[] = []
    for (let found = this.#take(member); found; found = this.#take(member)) {
      const index = found[3] ?? found[7]
      path.push(
        index === undefined
          ? (found[1] ?? found[2] ?? found[4] ?? found[5] ?? found[6] ?? '')
          : Number(index),
      )
    }
    return path
  }

  /** Conditions that hold whenever there is a reading, joined by `and`: the members that they look at. */
  #guards(): Path[] | undefined {
    const found: Path[] = []
    do {
      const guard = this.#guard()
      if (!guard) return undefined
      found.push(guard)
    } while (this.#take(/\s*and\b/y))
    return found
  }

  /** `a is defined`, `a is not none`, `is_number(a)`, `'a' in value_json` */
  #guard(): Path | undefined {
    const name = this.#take(/\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*in\b/y)
    const isNumber = !name && this.#take(/\s*is_number\(/y) !== null
    const path = this.#reference()
    if (!path) return undefined
    if (name) return [...path, name[1] ?? name[2] ?? '']
    if (isNumber) return this.#take(/\s*\)/y) ? path : undefined
    return this.#take(/\s*(?:is\s+(?:defined|number|mapping|not\s+none|not\s+undefined)\b|!=\s*none\b)/iy)
      ? path
      : undefined
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found) this.#at = pattern.lastIndex
    return found
  }

  /** The paths of all members that the text mentions. */
  mentions(): Path[] {
    const paths: Path[] = []
    for (const { index } of this.#text.matchAll(mention)) {
      this.#at = index
      this.#take(root)
      paths.push(this.#members())
    }
    return paths
  }
}

/** What a template reads that computes a value, by the members that it mentions. */
function mentioned(template: string): Member | Refusal {
  if (foreign.test(template))
    return {
      reason:
        'must be a template that reads the message alone, but it reads the clock or states of Home Assistant',
    }
  const paths = new Look(template).mentions()
  const path = paths.reduce<Path>((longest, other) => (other.length > longest.length ? other : longest), [])
  const other = paths.find(candidate => !isWithin(candidate, path))
  if (other)
    return {
      reason: `must be a template that reads one member, but it reads several, such as ${named(path)} and ${named(other)}`,
    }
  if (path.length === 0 && !/(?<![\w.'"])value\b/.test(template))
    return { reason: 'must be a template that reads one member, but it reads none by name' }
  return { path, computes: true }
}

const named = (path: Path) => path.join('.').slice(0, 100)

/** Whether a path leads to `inner` or to an object around it. */
function isWithin(outer: Path, inner: Path): boolean {
  return outer.length <= inner.length && outer.every((name, level) => name === inner[level])
}
