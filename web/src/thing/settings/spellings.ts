import { isObject, mergePatch } from './document.ts'
import type { Spelling } from './use-text.ts'

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

export const numberSpelling: Spelling = {
  write: String,
  read(text) {
    const value = Number(text)
    return number.test(text.trim()) && Number.isFinite(value) ? value : undefined
  },
  wanted: 'Write a number, such as 21.5.',
}

export const listSpelling: Spelling = {
  write: value => JSON.stringify(value),
  read(text) {
    const value = parse(text)
    return Array.isArray(value) ? value : undefined
  },
  wanted: 'Write a JSON array, such as [1, "two"].',
}

export const documentSpelling: Spelling = {
  write: value => JSON.stringify(value, null, 2),
  read(text) {
    const value = parse(text)
    return isObject(value) ? mergePatch({}, value) : undefined
  },
  wanted: 'Write a JSON object, such as {"interval": 10}.',
}

/** Why a text is not a settings document, and at which place; empty if it is a settings document. */
export function documentProblem(text: string): string {
  try {
    return isObject(JSON.parse(text)) ? '' : documentSpelling.wanted
  } catch (error) {
    return `Not JSON: ${error instanceof Error ? error.message : String(error)}.`
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
