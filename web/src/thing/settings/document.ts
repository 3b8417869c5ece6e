/** A settings document: a JSON object without null members. Documents are never changed in place. */
export type Document = Readonly<Record<string, unknown>>

/** Names of members, beginning in the document itself. */
export type Path = readonly string[]

/** RFC 7396: members of the patch replace members of the target, null removes a member, and objects are merged. */
export function mergePatch(target: unknown, patch: Document): Document {
  const members = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, isObject(value) ? mergePatch(members.get(name), value) : value)
  }
  return Object.fromEntries(members)
}

/** The smallest merge patch that changes `before` to `after`; empty if they are equal. Removes null members of `after`. */
export function patchBetween(before: Document, after: Document): Document {
  const patch = new Map<string, unknown>()
  for (const name of Object.keys(before)) {
    if (memberOf(after, name) === undefined) patch.set(name, null)
  }
  for (const [name, value] of Object.entries(after)) {
    const old = memberOf(before, name)
    if (value === null || equals(old, value)) continue
    patch.set(name, isObject(value) ? patchBetween(isObject(old) ? old : {}, value) : value)
  }
  return Object.fromEntries(patch)
}

/** The paths that a merge patch sets or removes. */
export function pathsOf(patch: Document, above: Path = []): readonly Path[] {
  return Object.entries(patch).flatMap(([name, value]) => {
    const path = [...above, name]
    return isObject(value) && Object.keys(value).length > 0 ? pathsOf(value, path) : [path]
  })
}

/** The value at the path; undefined if there is no value. */
export function valueAt(document: unknown, path: Path): unknown {
  let value = document
  for (const name of path) value = isObject(value) ? memberOf(value, name) : undefined
  return value
}

/** The document with `value` at the path. If `value` is undefined, the document without the member at the path. */
export function withValue(document: unknown, path: Path, value: unknown): Document {
  const [name, ...rest] = path
  if (name === undefined) return isObject(value) ? value : {}
  const members = new Map(isObject(document) ? Object.entries(document) : [])
  if (rest.length > 0) members.set(name, withValue(members.get(name), rest, value))
  else if (value === undefined) members.delete(name)
  else members.set(name, value)
  return Object.fromEntries(members)
}

/** Whether one path is the other path or leads through it. */
export function overlaps(a: Path, b: Path): boolean {
  return a.slice(0, b.length).every((name, at) => name === b[at])
}

/** Whether two JSON values are equal. The order of members does not matter. */
export function equals(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, at) => equals(item, b[at]))
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every(name => name in b && equals(a[name], b[name]))
}

/** Whether this is a JSON object, not an array or null. */
export function isObject(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function memberOf(object: Document, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
