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

/** A settings document with the user's unsaved changes. */
export interface Draft {
  /** The document on the server. */
  readonly stored: Document
  /** The document with the user's changes. */
  readonly edited: Document
  /** Paths that the user changed, and that someone else then changed to a different value. */
  readonly contested: readonly Path[]
}

export function draftOf(stored: Document): Draft {
  return { stored, edited: stored, contested: [] }
}

/** The merge patch that saves the changes. Contains only members that the user changed; empty without changes. */
export function changesOf({ stored, edited }: Draft): Document {
  return patchBetween(stored, edited)
}

/** @param value undefined removes the member */
export function edit(draft: Draft, path: Path, value: unknown): Draft {
  return withEdited(draft, withValue(draft.edited, path, value))
}

/** Replaces the user's version by a whole document. Null members are removed. */
export function editAll(draft: Draft, document: Document): Draft {
  return withEdited(draft, mergePatch({}, document))
}

/** Discards the user's change at the path, and uses the stored value. */
export function takeStored(draft: Draft, path: Path): Draft {
  return edit(draft, path, valueAt(draft.stored, path))
}

/** Applies a change of the document on the server. Members that the user changed keep the user's values. */
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

/** A path is contested only as long as the user's change at the path exists. */
function withEdited({ stored, contested }: Draft, edited: Document): Draft {
  const mine = pathsOf(patchBetween(stored, edited))
  return { stored, edited, contested: contested.filter(path => mine.some(own => equals(own, path))) }
}
