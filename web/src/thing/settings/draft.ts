import {
  type Document,
  equals,
  mergePatch,
  overlaps,
  type Path,
  patchBetween,
  pathsOf,
  valueAt,
  withValue,
} from './document.ts'

/** A settings document and what a person has changed of it, not saved yet. */
export interface Draft {
  /** As the server has it. */
  readonly stored: Document
  /** With the person's changes. */
  readonly edited: Document
  /** Paths that the person changed and that someone else has changed since, to something else. */
  readonly contested: readonly Path[]
}

export function draftOf(stored: Document): Draft {
  return { stored, edited: stored, contested: [] }
}

/** What to send to save the changes: the members that the person changed and no other. Empty if there are none. */
export function changesOf({ stored, edited }: Draft): Document {
  return patchBetween(stored, edited)
}

/** @param value undefined removes */
export function edit(draft: Draft, path: Path, value: unknown): Draft {
  return withEdited(draft, withValue(draft.edited, path, value))
}

/** Takes a whole document as the person's version of it. Null members are removals. */
export function editAll(draft: Draft, document: Document): Draft {
  return withEdited(draft, mergePatch({}, document))
}

/** Gives up what the person changed at the path: what is stored counts. */
export function takeStored(draft: Draft, path: Path): Draft {
  return edit(draft, path, valueAt(draft.stored, path))
}

/** The document changed on the server: what the person did not change follows, what he did change stays. */
export function follow(draft: Draft, stored: Document): Draft {
  const changes = changesOf(draft)
  const edited = mergePatch(stored, changes)
  const mine = pathsOf(patchBetween(stored, edited))
  const theirs = pathsOf(patchBetween(draft.stored, stored))
  const met = mine.filter(path => theirs.some(other => overlaps(path, other) || overlaps(other, path)))
  const before = draft.contested.filter(path => mine.some(own => equals(own, path)))
  const contested = [...before, ...met.filter(path => !before.some(own => equals(own, path)))]
  return { stored, edited, contested }
}

/** A path is contested for as long as the person's change to it stands. */
function withEdited({ stored, contested }: Draft, edited: Document): Draft {
  const mine = pathsOf(patchBetween(stored, edited))
  return { stored, edited, contested: contested.filter(path => mine.some(own => equals(own, path))) }
}
