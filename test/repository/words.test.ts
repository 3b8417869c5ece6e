import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Words of ours that gave way to those of the field. An identifier or a file name with one of them has come back. */
const retired: Readonly<Record<string, RegExp>> = {
  'client lock, owner, LockLost': /TakenHold|HoldLost|holdOf|clientHold|client-hold/,
  'leader election': /[Cc]andidacy/,
  'compactor, compaction': /\b[Pp]acker|[a-z]Packer|packing\//,
  'chunk, packed chunk': /packedRun|packed-run|recordRun|record-run|PartedRuns|RunDraft/,
  watermark: /packedMark|packed-mark|lowerMark|loweredMark/,
  rollup: /DaySummary|day-summary|dropSummaries|drop-summaries/,
  'duplicate index': /crowdKey|crowdEntry|crowdParts/,
  pending: /inHand(?!ling)|InHand(?!ling)/,
  'onConnection, accept, resume, evicted, disconnected':
    /isDismissed|hasTakenLeave|\bletIn\b|\bwelcome\b|dismissed/,
  'rejected connection': /[Tt]urnedAway|turned-away/,
  'keep-alive': /signsOfLife|signs-of-life|SignsOfLife/,
  authenticated: /\b#?proven\b|isProven|hasProven/,
  alias: /spellingOf|restoreSpellings/,
  'orphaned will': /leftWill|left-will|LeftWill/,
  'notified, delivered, logged, reported': /\btold\b|\btold[A-Z]|[a-z]Told|\btell[A-Z]|[a-z]Tell[A-Z]/,
  'drain, withRetry, withHelp': /\bhurry\b|\bpatiently\b|\bteach\b|\b[Ll]esson/,
}
const files = execFileSync('git', ['ls-files', 'src', 'web/src'], { encoding: 'utf8' }).trim().split('\n')

describe('the source uses the words of the field', () => {
  const texts = files.map(path => ({ path, text: `${path}\n${readFileSync(path, 'utf8')}` }))

  it.each(Object.entries(retired))('%s', (_, words) => {
    expect(texts.filter(({ text }) => words.test(text)).map(({ path }) => path)).toEqual([])
  })

  it('and has a short glossary for its own', () => {
    const rows = readFileSync('docs/glossary.md', 'utf8').match(/^\| (?!word \|)[^|]+ \|/gm) ?? []
    expect(rows.length).toBeLessThanOrEqual(80)
  })
})
