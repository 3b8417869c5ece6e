import { expect, test } from 'vitest'
import { versionNames } from '../helpers/mqtt-versions.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { Rounds, type RoundsSetup } from '../rig/rounds.ts'
import { defects, killAt, killPoints, magicPoints, sessionPoints, sourcePoints, willPoints } from './kill.ts'

/** The short form of `npm run fault -- --only kills` and `--only wills`. */

type OnEnd = (end: () => Promise<void>) => void
type Kept = readonly [
  what: string,
  who: RoundsSetup['cast'][number],
  points: object,
  names: readonly string[],
]

async function start(setup: RoundsSetup, onEnd: OnEnd): Promise<Rounds> {
  const dataDir = await temporaryDirectory(onEnd)
  const rounds = await Rounds.start({ dataDir, deadline: 30_000, ...setup })
  onEnd(() => rounds.end())
  return rounds
}

const kept: readonly Kept[] = [
  [
    'every acked write, no half of any, and QoS 2 writes once',
    'heavy',
    killPoints,
    ['during commit', 'during reopen', 'QoS 1 before PUBACK', 'QoS 2 before PUBREC', 'QoS 2 before PUBREL'],
  ],
  [
    'what persistent sessions and streams are to get, in order',
    'steady',
    sessionPoints,
    [
      'after commit',
      'PUBLISH sent to a session',
      'PUBACK of a session arrived',
      'while a session is read',
      'before the cursor of a session is saved',
    ],
  ],
  [
    'magic records, to be applied once, in order',
    'magic',
    magicPoints,
    [
      'magic write committed, not told',
      'magic write taken, not applied',
      'state committed, not told',
      'some time after the commit of a state has failed',
      'state removed',
      'between two queued writes',
      'in replays',
    ],
  ],
  [
    'what the devices of a source publish, and each device in one thing',
    'household',
    sourcePoints,
    ['random moment', 'QoS 1 before PUBACK', 'QoS 2 before PUBREC'],
  ],
  [
    'wills, to be written once, and none of clients that are back or took leave',
    'wills',
    willPoints,
    [
      'random moment',
      'after the commit of a will, in a shutdown',
      'before the commit of a will, after its grace',
    ],
  ],
]

test.concurrent.for(kept)(
  'a server that is killed under load keeps %s',
  async ([, who, points, names], { onTestFinished }) => {
    const rounds = await start({ cast: [who] }, onTestFinished)
    for (const [name, course] of Object.entries(points)) {
      if (!names.includes(name)) continue
      const { violations, proof, acks } = await rounds.run(killAt(name, course))
      expect(violations, name).toEqual([])
      expect(proof, name).toBeDefined()
      if (who !== 'wills') expect(acks, name).toBeGreaterThan(0)
    }
    for (const door of Object.values(versionNames)) {
      if (who !== 'wills') expect(rounds.acksOver(door), door).toBeGreaterThan(0)
    }
    expect(await rounds.finish()).toEqual([])
  },
)

test.concurrent.for<[defect: keyof typeof defects, findings: readonly RegExp[], RoundsSetup]>([
  // The acks of a commit have got out when the server dies as a rule, and not always.
  ['early ack', [/missing: \w+-4q2-/, /missing: \w+-5q2-/], { cast: ['heavy'] }],
  [
    'forgotten packet ids',
    [/repeated: \w+-4q2-/, /repeated: \w+-5q2-/],
    // Those with an id or datetimes are stored once even by this server.
    { cast: ['heavy'], heavy: { kinds: ['plain'] } },
  ],
  [
    'forgotten log',
    [/session in MQTT 3\.1\.1 .*(never came|is due)/, /session in MQTT 5 .*(never came|is due)/],
    { cast: ['steady'], deadline: 5_000 },
  ],
  ['forgotten marks', [/^magic: /], { cast: ['magic'], deadline: 5_000 }],
  ['forgotten magic writes', [/^magic: /], { cast: ['magic'], deadline: 5_000 }],
  ['forgotten announcements', [/^magic: /], { cast: ['magic'], deadline: 5_000 }],
  // Whether it was written again before all others were written for the first time, is chance.
  ['kept wills', [/repeated: |still kept: /], { cast: ['wills'] }],
])(
  'Rounds finds the %s of a server that is killed',
  async ([defect, findings, setup], { onTestFinished }) => {
    const rounds = await start(setup, onTestFinished)
    const found: string[] = []
    const isFound = (finding: RegExp) => found.some(text => finding.test(text))
    for (let kills = 0; kills < 8 && !findings.every(isFound); kills++) {
      const { proof, violations } = await rounds.run(killAt(defect, defects[defect]))
      expect(proof).toBeDefined()
      found.push(...violations)
    }
    found.push(...(await rounds.finish()))
    for (const finding of findings) expect(found).toContainEqual(expect.stringMatching(finding))
  },
)
