/**
 * Advice on a word that is part of names, such as `--port` of `--http-port`, and `create` of `things create`: commander compares
 * whole names alone.
 *
 * @param names of options or commands
 * @returns ` (Did you mean --http-port?)`; empty if the word is part of none
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
