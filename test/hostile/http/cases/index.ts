import type { HttpCase } from '../case.ts'
import { bodyCases } from './bodies.ts'
import { encodings } from './encodings.ts'
import { framing } from './framing.ts'
import { headers } from './headers.ts'
import { methodCases } from './methods.ts'
import { pathCases } from './paths.ts'
import { queryCases } from './queries.ts'
import { requestLines } from './request-lines.ts'
import { smuggling } from './smuggling.ts'
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
