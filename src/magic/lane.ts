import type { Commit, DocumentPut, DocumentStore, RecordStore } from '../core/ports.ts'
import { atRecord, type Problem, placeText } from '../core/record/problem.ts'
import type { AcceptedRecord } from '../core/record/record.ts'
import { ThingwireError } from '../errors.ts'
import type { AppliedMark } from './applied-marks.ts'
import type { MagicChange, MagicResource } from './magic-resource.ts'
import { type KnownStates, StateDraft, type StateDraftParts } from './state-draft.ts'

export interface MagicWrite {
  readonly commit: Commit
  readonly records: readonly AcceptedRecord[]
  /** Number of applied records. */
  applied: number
  /** The states after the applied records, if the write is not stored. */
  states?: KnownStates
}

/** The removal of a state, or of a part of a state. */
export interface StateRemoval {
  readonly key: string
  /** Name of the document that requests the removal. It is removed with the state, so if it is missing, the removal is done. */
  readonly name?: string
  /** Number of the newest write before the removal. After a restart, writes up to this number must not be applied again. */
  readonly after: number
  /** Receipt time, milliseconds since 1970. */
  readonly receivedAt: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export interface StepParts extends StateDraftParts {
  readonly documents: Pick<DocumentStore, 'get'>
  readonly records: Pick<RecordStore, 'state' | 'read'>
}

/** The pending changes of one thing's states, in order. */
export interface Lane {
  readonly thingId: string
  readonly jobs: (MagicWrite | StateRemoval)[]
  /** The append that is pending, or that failed but may have been stored. */
  unsure?: Appended | undefined
}

export interface Appended {
  readonly step: Step
  /** Whether the commit was delivered, which proves that the append was stored. */
  isDelivered: boolean
}

/** A record of an acknowledged write that is stored as history, but not applied. */
export interface MagicRefusal {
  readonly thingId: string
  readonly record: AcceptedRecord
  readonly error: ThingwireError
}

/** The changes that one append makes to the states of a thing. */
export interface Step {
  readonly draft: StateDraft
  readonly store: boolean
  readonly broadcast: boolean
  readonly refusals: readonly MagicRefusal[]
  /** Number of jobs that the step finishes. */
  readonly done: number
  /** If the step ends in the middle of a job: number of applied records of that job; otherwise 0. */
  readonly applied: number
  /** Mark of the newest applied write; absent if the states are not stored. */
  readonly mark?: AppliedMark
  /** Documents to put with the states, or alone if there are no states. */
  readonly documents?: DocumentPut
}

export function isWrite(job: MagicWrite | StateRemoval): job is MagicWrite {
  return 'commit' in job
}

/** @throws ThingwireError if the store fails */
export async function nextStep(lane: Lane, parts: StepParts): Promise<Step | undefined> {
  const [first] = lane.jobs
  if (!first) return undefined
  return isWrite(first) ? await stepOfWrites(lane, first, parts) : await stepOfRemoval(lane, first, parts)
}

/** Takes as many writes as fit in one commit. A write that is not stored is taken alone, so that no other write gets its states. */
async function stepOfWrites(lane: Lane, first: MagicWrite, parts: StateDraftParts): Promise<Step> {
  const { stored, broadcast } = first.commit
  const draft = new StateDraft(lane.thingId, parts, first.states)
  const refusals: MagicRefusal[] = []
  let last = first
  let done = 0
  let applied = 0
  for (const job of lane.jobs) {
    const isAlike = isWrite(job) && job.commit.stored === stored && job.commit.broadcast === broadcast
    if (!isAlike || draft.isFull || (done > 0 && !stored)) break
    last = job
    applied = job.applied
    for (const record of job.records.slice(applied)) {
      if (draft.isFull) break
      const problem = await draft.apply(changeOf(record, job.commit))
      if (problem) refusals.push(refusalOf(lane.thingId, record, problem))
      applied++
    }
    if (applied < job.records.length) break
    done++
    applied = 0
  }
  const { writeNumber } = last.commit
  const mark = applied === 0 ? { writeNumber } : { writeNumber, records: applied }
  const step = { draft, store: stored, broadcast, refusals, done, applied }
  return stored ? { ...step, mark } : step
}

async function stepOfRemoval(
  lane: Lane,
  { key, name, after, receivedAt }: StateRemoval,
  parts: StepParts,
): Promise<Step> {
  const draft = new StateDraft(lane.thingId, parts)
  const step = { draft, store: true, broadcast: true, refusals: [], done: 1, applied: 0 }
  if (name !== undefined && !(await parts.documents.get(name))) return step
  const resource = parts.magic.find(key)
  if (resource?.key === key)
    await draft.remove(key, await changeLeft(resource, lane.thingId, receivedAt, parts))
  else await draft.apply({ key, value: null, datetime: receivedAt, receivedAt })
  const asked = name === undefined ? {} : { documents: { [name]: null } }
  return { ...step, ...asked, mark: { writeNumber: after } }
}

/** The newest remaining record of a resource with `isLatestRecord`; undefined for other resources or if no record remains. */
async function changeLeft(
  { key, isLatestRecord }: MagicResource,
  thingId: string,
  receivedAt: number,
  { records }: StepParts,
): Promise<MagicChange | undefined> {
  if (!isLatestRecord) return undefined
  const page = await records.read(thingId, key, { order: 'desc', limit: 1 })
  const [record] = page?.records ?? []
  return record && { ...record, value: JSON.parse(record.value) as unknown, receivedAt }
}

function changeOf({ key, value, geo, datetime }: AcceptedRecord, { receivedAt }: Commit): MagicChange {
  const change = { key, value: JSON.parse(value) as unknown, datetime, receivedAt }
  return geo ? { ...change, geo } : change
}

function refusalOf(thingId: string, record: AcceptedRecord, problem: Problem): MagicRefusal {
  const error = new ThingwireError(problem.reason, `${placeText(record.place)}: ${problem.message}`, {
    errors: [atRecord(record.place, problem)],
  })
  return { thingId, record, error }
}
