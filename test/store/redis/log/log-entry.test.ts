import assert from 'node:assert/strict'
import { test } from 'vitest'
import { plain } from '../../../../src/conformance/views.ts'
import type { StoredRecord } from '../../../../src/core/record/record.ts'
import type { Commit } from '../../../../src/store/contract.ts'
import { decodeEntry, decodeShort, thingOfCommit } from '../../../../src/store/redis/log/log-entry.ts'
import { commitText } from '../../../../src/store/redis/log/logged-commit.ts'
import { encodeState } from '../../../../src/store/redis/record-member.ts'

const number = 1_792_574_400_000_016
const id = Buffer.from(`${number}-0`)
const record: StoredRecord = { key: 'a', datetime: 1_000, value: '"ü"', geo: { lat: 0.1, long: -1e-9 } }
const state = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 1, 5]), encodeState(record)])
/** Text of a commit. */
function told(
  lists: { readonly records?: readonly unknown[]; readonly latest?: readonly unknown[] } = {},
): string {
  return `node 7 3 ${lists.records?.length ?? 0} ${JSON.stringify(lists)}`
}
const commit = { thingId: 'thing', writeNumber: number, receivedAt: 7, broadcast: true, stored: true }

function said(commit: Commit | undefined): Commit | undefined {
  return commit && plain(commit)
}

function entry(...fields: readonly (string | Buffer)[]) {
  return decodeEntry([id, fields.map(field => Buffer.from(field))])
}

test('decodeEntry() gives a write back', () => {
  const accepted = { ...record, place: 3, explicit: true, datetimeText: '19700101000001' }
  const latest = [{ key: '$geo', record: { ...record, key: '$geo' } }, { key: '$settings' }]
  const { commit: decoded, undo } = entry(
    't',
    'thing',
    'c',
    told({ records: [accepted, { ...accepted, place: 4 }], latest }),
    'u',
    '$geo',
    'v',
    state,
    'u',
    '$settings',
    'v',
    '',
  )
  assert.deepEqual(said(decoded), {
    ...commit,
    records: [accepted, { ...accepted, place: 4 }],
    latest: [latest[0], { key: '$settings', record: undefined }],
  })
  assert.deepEqual(undo, [
    { thingId: 'thing', key: '$geo', writeNumber: number, before: state },
    { thingId: 'thing', key: '$settings', writeNumber: number, before: undefined },
  ])
})

test('decodeEntry() gives a record without a datetime of its own the receipt time', () => {
  const { datetime: _, ...sent } = { ...record, place: 3 }
  const { commit: decoded } = entry('t', 'thing', 'c', told({ records: [sent, { ...sent, datetime: 7 }] }))
  const accepted = { ...sent, datetime: commit.receivedAt }
  assert.deepEqual(decoded?.records, [
    { ...accepted, explicit: false },
    { ...accepted, explicit: true },
  ])
})

test('decodeEntry() gives what a removal has left as latest', () => {
  const { commit: decoded, undo } = entry(
    't',
    'thing',
    'c',
    told(),
    'n',
    'a',
    'v',
    state,
    'u',
    'a',
    'v',
    state,
  )
  assert.deepEqual(said(decoded), { ...commit, records: [], latest: [{ key: 'a', record }] })
  assert.deepEqual(undo, [{ thingId: 'thing', key: 'a', writeNumber: number, before: state }])
})

test('decodeEntry() gives nothing as latest where a removal has left nothing', () => {
  const { commit: decoded } = entry('t', 'thing', 'c', told(), 'n', 'a', 'v', '', 'u', 'a', 'v', state)
  assert.deepEqual(decoded?.latest, [{ key: 'a', record: undefined }])
})

test('decodeEntry() takes nothing for the name of a field that is content', () => {
  const { commit: decoded, undo } = entry('t', 'r', 'c', told(), 'n', 'u', 'v', '', 'u', 'v', 'v', '')
  assert.deepEqual(said(decoded), {
    ...commit,
    thingId: 'r',
    records: [],
    latest: [{ key: 'u', record: undefined }],
  })
  assert.deepEqual(undo, [{ thingId: 'r', key: 'v', writeNumber: number, before: undefined }])
})

test('decodeEntry() keeps no hold of the bytes that were read', () => {
  const fields = ['t', 'thing', 'c', told(), 'u', 'a', 'v', state].map(field => Buffer.from(field))
  const { undo } = decodeEntry([id, fields])
  fields.at(-1)?.fill(0)
  assert.deepEqual(undo[0]?.before, state)
})

test('decodeEntry() gives the names of documents and the node, with a commit and without', () => {
  const names = ['things/a', 'with\n"these"']
  const documentNames = ['d', JSON.stringify(names)]
  assert.deepEqual(entry('o', 'node', ...documentNames), {
    writeNumber: number,
    node: 'node',
    thingId: '',
    commit: undefined,
    undo: [],
    documents: names,
    refused: undefined,
    taken: undefined,
  })
  const { commit: decoded, documents, node } = entry('t', 'thing', 'c', told(), ...documentNames)
  assert.deepEqual(said(decoded), { ...commit, records: [], latest: [] })
  assert.deepEqual([documents, node], [names, 'node'])
})

test('decodeEntry() gives a refused write', () => {
  const refused = { datetime: 1, door: 'http', reason: 'invalid_key', message: 'no', excerpt: '{' }
  const { thingId, refused: decoded, commit } = entry('t', 'thing', 'e', JSON.stringify(refused), 'o', 'node')
  assert.deepEqual([thingId, decoded, commit], ['thing', refused, undefined])
})

test('decodeEntry() gives a lock that was taken, whatever its name is', () => {
  const lock = { name: 'client/a "b"\n\u{1f600} c', owner: 'node:12' }
  const { taken, commit, documents } = entry('o', 'node', 'h', `${lock.owner} ${lock.name}`)
  assert.deepEqual([taken, commit, documents], [lock, undefined, []])
})

test('thingOfCommit() gives the thing of a commit alone', () => {
  const thingOf = (...fields: readonly string[]) =>
    thingOfCommit([id, fields.map(field => Buffer.from(field))])
  assert.equal(thingOf('t', 'thing', 'c'), 'thing')
  assert.equal(thingOf('t', 'thing', 'e', '{}'), undefined)
  assert.equal(thingOf('o', 'node', 'd', '[]'), undefined)
})

test('decodeEntry() gives the flags of a commit', () => {
  const flags = { broadcast: false, stored: false }
  const { commit: decoded } = entry('t', 'thing', 'c', 'node 7 0 0 {}')
  assert.deepEqual(said(decoded), { ...commit, ...flags, records: [], latest: [] })
})

test('decodeEntry() says of a commit that it is elsewhere to whom another node has written it', () => {
  const fields = ['t', 'thing', 'c', told()].map(field => Buffer.from(field))
  const isElsewhere = (reader?: string) => decodeEntry([id, fields], reader).commit?.isElsewhere
  assert.deepEqual([isElsewhere('other'), isElsewhere('node'), isElsewhere()], [true, undefined, undefined])
})

test('decodeShort() gives the same of commits that came as one text, behind a write number', () => {
  const text = told({
    records: [{ ...record, value: '"a b ü"', place: 0, explicit: true, datetimeText: '' }],
  })
  for (const reader of ['node', 'another', undefined]) {
    const fields = ['t', 'thing', 'c', text].map(field => Buffer.from(field))
    const lines = [
      `${number - 16}-0 passed ${text}`,
      `${id} thing ${text}`,
      `${number + 16}-0 other ${told()}`,
    ]
    const [first, second, ...more] = decodeShort(Buffer.from(lines.join('\n')), number - 16, reader)
    assert.deepEqual(said(first), said(decodeEntry([id, fields], reader).commit))
    assert.deepEqual([second?.thingId, second?.writeNumber, more], ['other', number + 16, []])
  }
})

test('a commit of the log says how large it is before its records are read', () => {
  const text = told({ records: [{ ...record, value: '"0123456789"', place: 0, explicit: true }] })
  const { commit: decoded } = entry('t', 'thing', 'c', text)
  assert.equal(decoded?.outline.records, 1)
  assert.ok(decoded.outline.bytes > text.length)
})

test('commitText() is what is decoded', () => {
  const records = [
    { ...record, place: 3, explicit: true, datetimeText: '19700101000001' },
    { ...record, place: 4, datetime: commit.receivedAt, explicit: false },
  ]
  const latest = [{ key: '$geo', record: { ...record, key: '$geo' } }]
  const moved = { ...commit, broadcast: false, records, latest }
  const { commit: decoded } = entry('t', 'thing', 'c', commitText(moved))
  assert.deepEqual(said(decoded), moved)
  assert.equal(decoded?.outline.hasMagic, false)
  const magic = { ...moved, records: [...records, { ...record, key: '$geo', place: 4, explicit: true }] }
  assert.equal(entry('t', 'thing', 'c', commitText(magic)).commit?.outline.hasMagic, true)
})
