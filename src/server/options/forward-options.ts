import { z } from 'zod'
import { type OptionDeclaration, optional, text, wholeNumber } from '../../core/options/option-kinds.ts'
import { parseTargetUrl, targetRule } from '../../forward/target.ts'

/** The options of forwarding to a central server (contract §11). */
export const forwardDeclarations = {
  forward: {
    ...optional(
      text(
        targetRule,
        z.string().refine(url => parseTargetUrl(url) !== undefined),
      ),
    ),
    meaning:
      'Central server to which the records of the things of `forwardThings` are handed on, such as `mqtts://central.example`. Needs the embedded store.',
    reason: 'Records leave the machine only on request.',
  },
  forwardThings: {
    ...optional(text('a path')),
    meaning:
      'File (JSON, mode 0600) with the token at the central server for each thing that is forwarded. The server reads a changed file again.',
    reason: 'There is no forwarding without tokens.',
  },
  forwardCa: {
    ...optional(text('a path')),
    meaning:
      'File of the certificates (PEM) by which the central server is recognised, in place of those of the system.',
    reason: 'Most central servers have a certificate of a public authority.',
  },
  forwardBytesPerSecond: {
    ...optional(wholeNumber(100, 1_000_000_000, 'bytes')),
    meaning: 'Bytes of writes that are sent to the central server a second.',
    reason: 'A backlog is sent as fast as the link and the central server take it.',
  },
  forwardLogLimit: {
    ...wholeNumber(1_048_576, Number.MAX_SAFE_INTEGER, 'bytes'),
    default: 4_294_967_296,
    meaning:
      'Bytes of records that may wait for the central server. Beyond that the oldest are not forwarded any more: the log, the metrics and `thingwire doctor` say so. They stay in the store.',
    reason:
      'Ten records a second fit for several weeks, and an outage that does not end does not fill the disk.',
  },
} as const satisfies Record<string, OptionDeclaration>
