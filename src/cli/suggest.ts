/**
 * Suggests names that a word is part of, such as `--http-port` for `--port` and `things create` for `create`. Commander itself only
 * compares whole names.
 *
 * @param names the names of all options or commands
 * @returns a text such as ` (Did you mean --http-port?)`; empty if no name fits
 */
export function suggestion(word: string, names: readonly string[]): string {
  const bare = word.replace(/^-+/, '')
  const joined = (text: string) => text.replace(/[-_]/g, '').toLowerCase()
  const near = names.filter(
    name => name.split(/[- ]/).includes(bare) || (bare !== '' && joined(name) === joined(bare)),
  )
  const [only] = near
  if (only === undefined) return ''
  return near.length === 1 ? ` (Did you mean ${only}?)` : ` (Did you mean one of ${near.join(', ')}?)`
}
