import { describe, expect, it } from 'vitest'
import {
  changesOf,
  type Draft,
  draftOf,
  edit,
  editAll,
  follow,
  takeStored,
} from '../../web/src/thing/settings/draft.ts'

const stored = { interval: 10, alarm: { depth: 3.5, on: true }, tags: ['a'] }

describe('changesOf()', () => {
  it('is empty for a draft that nobody edited', () => {
    expect(changesOf(draftOf(stored))).toEqual({})
  })

  it('holds the members that were edited and no other', () => {
    const draft = edit(edit(draftOf(stored), ['alarm', 'depth'], 4), ['tags'], ['a', 'b'])
    expect(changesOf(draft)).toEqual({ alarm: { depth: 4 }, tags: ['a', 'b'] })
  })

  it('holds null for a member that was removed', () => {
    expect(changesOf(edit(draftOf(stored), ['alarm', 'on'], undefined))).toEqual({ alarm: { on: null } })
  })

  it('is empty once a member has its old value again', () => {
    expect(changesOf(edit(edit(draftOf(stored), ['interval'], 20), ['interval'], 10))).toEqual({})
  })

  it('removes each member of an object that became empty', () => {
    expect(changesOf(edit(draftOf(stored), ['alarm'], {}))).toEqual({ alarm: { depth: null, on: null } })
  })

  it('takes a null in the text of the whole document as a removal', () => {
    expect(changesOf(editAll(draftOf(stored), { ...stored, interval: null }))).toEqual({ interval: null })
  })
})

describe('follow()', () => {
  it('takes over what someone else changed and keeps what the person changed', () => {
    const draft = follow(edit(draftOf(stored), ['interval'], 20), { ...stored, tags: [] })
    expect(draft.edited).toEqual({ ...stored, interval: 20, tags: [] })
    expect(changesOf(draft)).toEqual({ interval: 20 })
    expect(draft.contested).toEqual([])
  })

  it('says which changes of the person someone else contests', () => {
    const draft = follow(edit(draftOf(stored), ['interval'], 20), { ...stored, interval: 5 })
    expect(draft.edited).toMatchObject({ interval: 20 })
    expect(draft.contested).toEqual([['interval']])
  })

  it('contests nothing where someone else made the same change', () => {
    expect(follow(edit(draftOf(stored), ['interval'], 20), { ...stored, interval: 20 }).contested).toEqual([])
  })

  it('contests a change inside an object that someone else removed', () => {
    const draft = follow(edit(draftOf(stored), ['alarm', 'depth'], 4), { interval: 10, tags: ['a'] })
    expect(draft.contested).toEqual([['alarm', 'depth']])
    expect(changesOf(draft)).toEqual({ alarm: { depth: 4 } })
  })

  it('goes on contesting while other members change', () => {
    const contested = follow(edit(draftOf(stored), ['interval'], 20), { ...stored, interval: 5 })
    expect(follow(contested, { ...stored, interval: 5, tags: [] }).contested).toEqual([['interval']])
  })
})

describe('takeStored()', () => {
  const contested: Draft = follow(edit(draftOf(stored), ['interval'], 20), { ...stored, interval: 5 })

  it('gives up the change at the path', () => {
    const draft = takeStored(contested, ['interval'])
    expect(draft.edited).toMatchObject({ interval: 5 })
    expect(draft.contested).toEqual([])
    expect(changesOf(draft)).toEqual({})
  })

  it('brings back a member that was removed', () => {
    const draft = edit(draftOf(stored), ['alarm'], undefined)
    expect(takeStored(draft, ['alarm']).edited).toEqual(stored)
  })
})
