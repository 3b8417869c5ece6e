import type { HttpCase } from '../case.ts'
import { bodyCases, encodings } from './bodies.ts'
import { framing, smuggling } from './framing.ts'
import { headers, requestLines } from './heads.ts'
import { methodCases, pathCases, queryCases } from './targets.ts'
import { upgrades } from './upgrades.ts'

/** The hostile table of the HTTP door, by what is wrong. */
export const httpCases: Readonly<Record<string, readonly HttpCase[]>> = {
  'request lines': requestLines,
  headers,
  framing,
  smuggling,
  bodies: bodyCases,
  encodings,
  paths: pathCases,
  queries: queryCases,
  methods: methodCases,
  upgrades,
}
