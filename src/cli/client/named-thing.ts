import { isThingId } from '../../core/token.ts'
import { CommandError, exitStatus, failure, refuseToken, usageError } from '../exit.ts'
import type { ServerClient } from './client.ts'
import type { TopicGrant } from './topic-flags.ts'

/** The owner of the credential: the answer to `GET /v2/principal`. */
export type Principal =
  | { readonly kind: 'thing'; readonly thingId: string; readonly name: string }
  | { readonly kind: 'session'; readonly things: '*' | readonly string[]; readonly access: 'read' | 'write' }
  | { readonly kind: 'source'; readonly sourceId: string; readonly name: string }
  | { readonly kind: 'admin'; readonly topics?: readonly string[] }

/** An item of `GET /v2/things`. */
export interface ListedThing {
  readonly thingId: string
  readonly name: string
  readonly createdAt: string
  readonly lastSeen: string | null
  readonly lastWrite?: string
  readonly position?: { readonly lat: number; readonly long: number }
  readonly topics?: readonly TopicGrant[]
  readonly source?: { readonly sourceId: string; readonly device: string; readonly isGone?: true }
}

export interface NamedThing {
  readonly thingId: string
  /** Empty if the thing has no name, or if only its id is known. */
  readonly name: string
}

export async function readPrincipal(client: ServerClient): Promise<Principal> {
  return await client.call<Principal>('/v2/principal')
}

/**
 * Finds the thing with this id or unique name. If no thing is named, finds the only thing that the credential is for.
 *
 * @throws CommandError usage, credential, or failed if there is no such thing or more than one
 */
export async function findThing(
  client: ServerClient,
  named: string | undefined,
  instead = '',
): Promise<NamedThing> {
  const principal = await readPrincipal(client)
  if (principal.kind === 'thing') {
    if (named === undefined || isCalled(principal, named)) return principal
    throw new CommandError(
      exitStatus.credential,
      `this token (from ${client.source}) belongs to ${called(principal)}, not to ${named}: use the token of ${named}, or the admin key`,
    )
  }
  if (named !== undefined) return await thingCalled(client, named)
  const only = principal.kind === 'session' && principal.things !== '*' ? principal.things : []
  if (only.length === 1 && only[0] !== undefined) return { thingId: only[0], name: '' }
  throw usageError(`give the id or name of the thing${instead}: thingwire things list shows them`)
}

/** With a thing's own token, a single operand is the key, unless it is the id or name of the thing. @throws as `findThing` */
export async function resourceNamed(
  client: ServerClient,
  first: string | undefined,
  second: string | undefined,
): Promise<{ readonly thing: NamedThing; readonly key: string | undefined }> {
  if (first !== undefined && second === undefined) {
    const principal = await readPrincipal(client)
    if (principal.kind === 'thing' && !isCalled(principal, first)) return { thing: principal, key: first }
  }
  return { thing: await findThing(client, first), key: second }
}

/** Finds a thing by its id or unique name. @throws CommandError as `findThing` */
export async function thingCalled(client: ServerClient, named: string): Promise<NamedThing> {
  refuseToken(named)
  if (isThingId(named)) return { thingId: named, name: '' }
  const found = await findNamed(client, named)
  const [thing] = found
  if (thing && found.length === 1) return thing
  if (!thing) throw await noneCalled(client, named)
  throw failure(
    `${found.length} things are called ${named}: give the id of one`,
    found.map(({ thingId, createdAt }) => `${thingId}, created ${createdAt}`),
  )
}

/** The error if no thing with this name is found. A session for certain things cannot see whether another thing has the name. */
async function noneCalled(client: ServerClient, named: string): Promise<CommandError> {
  const principal = await readPrincipal(client)
  if (principal.kind !== 'session' || principal.things === '*')
    return failure(`no thing is called ${named}: thingwire things list shows them`)
  const text = `the credential (from ${client.source}) is a session that sees only certain things, and ${named} is not one of them`
  return new CommandError(exitStatus.credential, text, [
    'thingwire things list shows them; for another thing use its token, a session for it, or the admin key',
  ])
}

/** The things with exactly this name that the credential may see. */
export async function findNamed(client: ServerClient, name: string): Promise<readonly ListedThing[]> {
  const path = `/v2/things?name=${encodeURIComponent(name)}`
  const found = await client.listAll<ListedThing, 'things'>(path, 'things')
  return found.filter(thing => thing.name === name)
}

/** The list item of a thing; undefined if there is no thing with this id, or the credential may not see it. */
export async function describeThing(client: ServerClient, thingId: string): Promise<ListedThing | undefined> {
  const { things } = await client.call<{ things: ListedThing[] }>(`/v2/things?thingId=${thingId}`)
  return things.find(thing => thing.thingId === thingId)
}

/** How messages name a thing: `boat (abcdefgh234567ab)`, or only the id. */
export function called({ thingId, name }: NamedThing): string {
  return name === '' ? thingId : `${name} (${thingId})`
}

export function isCalled({ thingId, name }: NamedThing, named: string): boolean {
  return named === thingId || (name !== '' && named === name)
}
