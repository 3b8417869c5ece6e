import type { Snippet } from '../snippet.ts'
import { arduino } from './arduino.ts'
import { curl } from './curl.ts'
import { espIdf } from './esp-idf.ts'
import { micropython } from './micropython.ts'
import { mosquitto } from './mosquitto.ts'
import { node } from './node.ts'
import { python } from './python.ts'

/** The programs, in the order of display. */
export const snippets: readonly [Snippet, ...Snippet[]] = [
  curl,
  mosquitto,
  arduino,
  espIdf,
  micropython,
  python,
  node,
]
