import type { LoadResult, Marks, Phases } from './load.ts'
import { measure } from './measure.ts'

const program = new URL('http-writers-child.ts', import.meta.url)

export interface HttpWrites {
  readonly host: string
  /** Connection i goes to `ports[i % ports.length]`. */
  readonly ports: readonly number[]
  /** Each has one request at a time on its way. */
  readonly connections: number
  /** Connection i posts to `paths[i % paths.length]`. */
  readonly paths: readonly string[]
  /** On top of Host and Content-Length. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly expectedStatus: number
  /** Writes a second over all connections, at random times. Absent: a closed loop. */
  readonly rate?: number
}

/**
 * Posts from a process of its own, over HTTP/1.1 connections that are kept.
 *
 * @throws Error if a connection is refused or closed, or another status is answered
 */
export async function writeHttp(writes: HttpWrites, phases: Phases, marks: Marks): Promise<LoadResult> {
  return await measure(program, writes, phases, marks)
}
