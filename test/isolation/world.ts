import { expect } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import { type ServerProcess, startServer } from '../helpers/server-process.ts'
import { type Cast, castOf } from './cast.ts'
import { Neighbour } from './neighbour.ts'
import { Operator } from './operator.ts'

/** A server in a process of its own, everybody who is known to it, and the victim at work. */
export interface World {
  readonly server: ServerProcess
  readonly operator: Operator
  readonly cast: Cast
  readonly neighbour: Neighbour
  /** Things that must hold no forgery when all is over: what should not be done might be done late. */
  readonly unforged: Thing[]
  /** What no answer may hold. */
  readonly secrets: readonly string[]
}

/** So that a limit on guesses hides nothing. */
export const unlimitedGuesses = { THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1000000' }

/** Topics beside those of things. */
export const servedTopics = { THINGWIRE_TOPICS: 'house/#' }

/** @param dataDir whoever gives it removes it, when the server has ended */
export async function openWorld(dataDir: string): Promise<World> {
  const environment = { ...unlimitedGuesses, ...servedTopics }
  const server = await startServer({ dataDir, environment })
  try {
    const operator = new Operator(server)
    const cast = await castOf(operator)
    const neighbour = await Neighbour.open(server, cast)
    const { words } = cast
    const secrets = [words['read session of victim'], words['write session of victim'], words['fresh code']]
    return { server, operator, cast, neighbour, unforged: [], secrets }
  } catch (error) {
    await server.kill()
    throw error
  }
}

/** A write that nobody else may ever see, and that none of the victim's resources may hold. */
export function forgery(by: string): object {
  return { values: [{ key: 'forged', value: by }] }
}

/** @throws Error if a forgery was written to the thing */
export async function expectUnforged(
  { server }: Pick<World, 'server'>,
  { thingToken }: Thing,
): Promise<void> {
  const response = await fetch(`${server.url}/v2/things/${thingToken}/resources`)
  expect(response.status).toBe(200)
  expect(((await response.json()) as { resources: string[] }).resources).not.toContain('forged')
}
