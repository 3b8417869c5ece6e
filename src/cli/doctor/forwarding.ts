import type { ForwardingAnswer } from '../../http/routes/admin-forward.ts'
import { RefusedError, type ServerClient } from '../client/client.ts'
import { readPrincipal } from '../client/named-thing.ts'
import { counted } from '../output.ts'
import { type Finding, fault, note, ok } from './finding.ts'

const check = 'forwarding'
const details = 'thingwire forwarding shows more'

/** If the server forwards, checks whether records reach the central server. */
export async function checkForwarding(client: ServerClient): Promise<readonly Finding[]> {
  if ((await readPrincipal(client)).kind !== 'admin') return []
  const answer = await readForwarding(client)
  if (answer.target === null) return []
  const {
    target,
    connected,
    problem,
    mapProblem,
    waiting,
    held,
    droppedRecords,
    refusedRecords,
    refused,
    unknownThings = [],
    omittedThings = [],
  } = answer
  const waits = `${counted(waiting.records, 'record')} wait${waiting.records === 1 ? 's' : ''}`
  const since = waiting.oldest === undefined ? '' : `, the oldest since ${waiting.oldest}`
  const findings: Finding[] = []
  if (!connected && problem !== undefined) {
    const text = `the central server ${target} cannot be reached: ${problem}; ${waits}${since}`
    findings.push(
      fault(check, text, 'is the address right, and does the link work? Records are kept meanwhile'),
    )
  } else findings.push(ok(check, `to ${target}: ${waits}${since}`))
  if (mapProblem !== undefined) {
    const text = `${mapProblem}; forwarding continues with the previous thing map`
    findings.push(fault(check, text, 'correct the file: the server reads it again'))
  }
  const [one] = held
  if (one) {
    const text = `${counted(held.length, 'thing')} held back, such as ${one.thingId} since ${one.since}: ${one.why}`
    const advice = `is ${target} a Thingwire server, and is the thing's token in the thing map from that server?`
    findings.push(fault(check, text, `${advice} ${details}`))
  }
  const [unknown] = unknownThings
  if (unknown !== undefined) {
    const others = unknownThings.length === 1 ? '' : ` and ${counted(unknownThings.length - 1, 'other')}`
    const text = `the thing map names ${unknown}${others}, but this server has no such thing`
    findings.push(fault(check, text, 'thingwire things list shows the ids of its things'))
  }
  const [omitted] = omittedThings
  if (omitted !== undefined) {
    const others = omittedThings.length === 1 ? '' : ` and ${counted(omittedThings.length - 1, 'other')}`
    const text = `the thing map does not have ${omitted}${others}: what they write stays here`
    findings.push(note(check, text, 'add each to the thing map, or null for a thing that stays here'))
  }
  if (droppedRecords > 0) {
    const text = `${counted(droppedRecords, 'record')} given up: more waited than forwardLogLimit`
    const advice = 'raise forwardLogLimit; thingwire export and import copy what is missing'
    findings.push(fault(check, text, advice))
  }
  const [newest] = refused
  if (newest) {
    const { thingId, key, datetime, reason, message } = newest
    const text = `${counted(refusedRecords, 'record')} refused for good, the newest ${key} of ${thingId} at ${datetime}: ${message} (${reason})`
    findings.push(note(check, text, details))
  }
  return findings
}

async function readForwarding(client: ServerClient): Promise<ForwardingAnswer> {
  try {
    return await client.call<ForwardingAnswer>('/v2/admin/forward?limit=1')
  } catch (error) {
    // An older server does not have this path, and forwards nothing.
    if (error instanceof RefusedError && error.httpStatus === 404) return { target: null }
    throw error
  }
}
