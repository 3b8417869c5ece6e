import { z } from 'zod'
import { adminKeyRule } from './access/admin-key.ts'
import { tokenName } from './access/documents.ts'
import {
  type AccessSessionRegistry,
  type ActivationCodes,
  createAccess,
  type SourceThings,
  type ThingRegistry,
} from './access/index.ts'
import { type LimitOptions, Limits, limitRules } from './access/limits/limits.ts'
import { FairQueue } from './core/async/fair-queue.ts'
import { recordCount } from './core/commit-outline.ts'
import { createIngest } from './core/ingest.ts'
import type { Observer } from './core/observer.ts'
import { assertOptions } from './core/options/given-options.ts'
import { aFunction, ifGiven, objectWith, wholeNumber, yesOrNo } from './core/options/option-kinds.ts'
import type { RecordStore, RefusedWrites } from './core/ports.ts'
import { recordText } from './core/record/record-text.ts'
import { hashToken } from './core/token.ts'
import {
  activationCodesOfHost,
  createHostListeners,
  createHostRead,
  type HostThings,
  HostWrites,
  registryOfHost,
  sessionsOfHost,
} from './embed/index.ts'
import { ThingwireError } from './errors.ts'
import { formatsOf, sourceRules } from './formats/registry.ts'
import { writeFormats } from './formats/write-formats.ts'
import type { Forwarder, ForwardOptions } from './forward/forwarder.ts'
import { LeftLog } from './forward/progress.ts'
import type { HttpThings } from './http/http-things.ts'
import { Live } from './live/index.ts'
import { EventIds } from './live/streams/event-ids.ts'
import { OwnStreamLog } from './live/streams/own-stream-log.ts'
import { SharedStreamLog } from './live/streams/shared-stream-log.ts'
import type { MagicResource } from './magic/magic-resource.ts'
import { createMagicRegistry } from './magic/registry.ts'
import { RetainedState } from './magic/retained-state.ts'
import type { MqttThings } from './mqtt/mqtt-things.ts'
import { SessionLog } from './mqtt/sessions/session-log.ts'
import { Retention } from './retention/retention.ts'
import type { RetentionRule } from './retention/rules.ts'
import { Sources } from './sources/sources.ts'
import type { StoreDriver, StoreSize } from './store/contract.ts'
import { defaultStoreTimeout, openStore } from './store/open-store.ts'

export interface ThingsOptions {
  /** A store that is not open yet, such as `createLevelStore({ location })`. */
  readonly store: StoreDriver
  /** The operator's credential, at least 32 characters. */
  readonly adminKey: string
  /** Whether a thing may delete its own records with its token. Default false. */
  readonly allowThingDelete?: boolean
  /** How long a write may wait for its commit, milliseconds. Default 5,000. */
  readonly storeTimeout?: number
  /** Limits that differ from the defaults (contract §9). */
  readonly limits?: Partial<LimitOptions>
  /** How long records are kept (docs/use/operations.md). Default: for ever. */
  readonly retention?: readonly RetentionRule[]
  /** Magic resources in addition to `$geo`, `$settings` and `$meta` (docs/use/magic.md). */
  readonly magicResources?: readonly MagicResource[]
  readonly observer?: Observer
  /** Called with each error from a magic resource or a listener of `on`; must not throw. Default: emits a process warning. */
  readonly onDefect?: (error: unknown) => void
}

/** Options that only the ready server has: `topics` needs the relay in its broker, and `forward` needs its data directory. */
export interface ReadyServerOptions {
  /** Filters of the topics that can be granted to sessions and things, other than Thingwire's own topics. Default: none. */
  readonly topics?: readonly string[]
  /** The central server to which records are forwarded (docs/use/forward.md). Default: none. */
  readonly forward?: ForwardOptions | undefined
}

/** Maximum number of concurrent costly reads: one less than the threads for disk access, so that commits keep one thread. */
const costlyReadsAtOnce = 3

/** The parts of the service, for its doors. */
export interface ThingsParts extends HttpThings, MqttThings {
  readonly records: RecordStore
  readonly refused: RefusedWrites
  readonly activationCodes: ActivationCodes
  readonly sourceThings: SourceThings
  readonly magic: RetainedState
  readonly retention: Pick<Retention, 'removed' | 'lastRun'>
  /** How long a write may wait for its commit, milliseconds. */
  readonly storeTimeout: number
  readonly forward: Forwarder | undefined
  /** Whether an earlier process forwarded records and this process does not. */
  readonly hasLeftForwarding: boolean
  /** Present size of the store. @throws ThingwireError store_unavailable */
  storeSize(): Promise<StoreSize>
  /** Finishes pending calls, then closes the store. Idempotent. */
  close(): Promise<void>
}

/** The service for a host, which passes it to `thingwire/http`, `thingwire/mqtt` and `thingwire/page`. */
export interface Things extends HostThings {
  /** Creates, lists, renames and removes things, and gives them tokens. */
  readonly registry: ThingRegistry
  /** Mints, lists and ends sessions: credentials for people, dashboards and apps. */
  readonly sessions: AccessSessionRegistry
  /** Codes with which things register themselves. */
  readonly activationCodes: ActivationCodes
  /** A consistent copy of the store. @throws ThingwireError not_found if the store cannot make one */
  backup(): AsyncIterable<Uint8Array>
  /** Present size of the store. @throws ThingwireError store_unavailable */
  storeSize(): Promise<StoreSize>
  /** Whether the store can take writes now; a lack of disk space is not considered. */
  isReady(): boolean
  /** Finishes pending calls, then closes the store. Close the doors first. Later calls get `service_closed`. Idempotent. */
  close(): Promise<void>
  /** Internal, for the doors; may change in any version. */
  readonly parts: ThingsParts
}

const thingsRules = {
  store: objectWith("a store, such as createLevelStore({ location: './data/store' })", [
    'open',
    'close',
    'capabilities',
  ]),
  adminKey: { ...adminKeyRule, secret: true },
  allowThingDelete: ifGiven(yesOrNo()),
  storeTimeout: ifGiven(wholeNumber(1, 2_147_483_647, 'ms')),
  limits: ifGiven(objectWith('an object such as { writesPerSecond: 100 }', [])),
  retention: ifGiven({
    schema: z.array(z.object({ pattern: z.string(), age: z.number().positive() })),
    rule: "a list of rules such as { pattern: 'debug.*', age: 86_400_000 }",
  }),
  magicResources: ifGiven({
    schema: z.array(z.object({ key: z.string(), check: aFunction().schema, apply: aFunction().schema })),
    rule: 'a list of magic resources (docs/use/magic.md)',
  }),
  observer: ifGiven(objectWith('an observer', ['wrote', 'refusedWrite'])),
  onDefect: ifGiven(aFunction()),
} as const

const givenLimits = Object.fromEntries(
  Object.entries(limitRules).map(([name, rule]) => [name, ifGiven(rule)]),
)

/**
 * Opens the store and wires core, magic resources and access onto it. Opens no sockets.
 *
 * @throws TypeError if an option is missing, wrong or unknown
 * @throws Error with a message for the operator if the store cannot be opened
 */
export async function createThings(options: ThingsOptions): Promise<Things> {
  const example = '{ store, adminKey }'
  assertOptions('createThings', thingsRules, options, example)
  if (options.limits)
    assertOptions('limits of createThings', givenLimits, options.limits, '{ writesPerSecond: 100 }')
  const parts = await openThings(options)
  const { storeSize, isReady } = parts
  const ofHost = { ...parts, adminKey: options.adminKey }
  const writes = new HostWrites(ofHost)
  let isClosed = false
  const pending = new Set<Promise<unknown>>()
  const assertOpen = () => {
    if (isClosed) throw new ThingwireError('service_closed')
  }
  const calls = { write: writes.write.bind(writes), read: createHostRead(ofHost), storeSize }
  const guarded = whileOpen(calls, assertOpen, pending)
  return {
    ...guarded,
    on: createHostListeners(parts.live, options.onDefect ?? warnOfDefect, assertOpen),
    registry: whileOpen(registryOfHost(parts.registry), assertOpen, pending),
    sessions: whileOpen(sessionsOfHost(parts.sessions), assertOpen, pending),
    activationCodes: whileOpen(activationCodesOfHost(parts.activationCodes), assertOpen, pending),
    backup: async function* () {
      assertOpen()
      yield* parts.backup()
    },
    close: async () => {
      isClosed = true
      // Writes that wait for their rate would otherwise delay the end.
      parts.ingest.drain()
      await Promise.allSettled(pending)
      await parts.close()
    },
    ...{ isReady, parts },
  }
}

/**
 * Runs `assertOpen` before each call, since a closed store would answer `store_unavailable`, and the host would retry. `pending`
 * contains each call until it has settled.
 */
function whileOpen<Calls extends object>(
  calls: Calls,
  assertOpen: () => void,
  pending: Set<Promise<unknown>>,
): Calls {
  const guarded = Object.entries(calls).map(([name, call]) => {
    const open = async (...args: readonly unknown[]) => {
      assertOpen()
      const calling: Promise<unknown> = call(...args)
      pending.add(calling)
      return await calling.finally(() => pending.delete(calling))
    }
    return [name, open]
  })
  return Object.fromEntries(guarded)
}

/**
 * Creates the parts of the service from checked options. Adds the listeners of commits in the order in which they are called: live,
 * forwarding, access, write rate, metrics; the applier of magic resources adds itself when this node leads it.
 *
 * @param ready given only by the ready server
 * @throws Error with a message for the operator if the store cannot be opened
 */
export async function openThings(
  options: ThingsOptions,
  ready: ReadyServerOptions = {},
): Promise<ThingsParts> {
  const magic = createMagicRegistry(options.magicResources)
  const { storeTimeout = defaultStoreTimeout, onDefect = warnOfDefect, observer } = options
  const limits = new Limits(options.limits)
  const store = await openStore(options.store, { storeTimeout })
  const { records, documents, refused, nodes, locks, clock } = store
  const stored = { records, documents, refused, nodes, locks, clock }
  const isShared = store.capabilities.shared
  const live = new Live({ records, nodes, isShared, observer }, await records.catchUp())
  // Opened before the first write, so that absent clients miss none. The magic resources below may already write a state.
  const sessionLog = await SessionLog.open(documents)
  const streamLog = isShared
    ? new SharedStreamLog(live, nodes, await EventIds.begin(documents))
    : await OwnStreamLog.open(documents, live)
  live.log.keepFor(sessionLog)
  // Read from the documents directly, so that the token does not count as used.
  const isOwnToken = async (token: string) => !!(await documents.get(tokenName(hashToken(token))))
  const forwarding = ready.forward && { ...ready.forward, target: { ...ready.forward.target, isOwnToken } }
  const forward = forwarding && (await openForwarder({ ...stored, live }, forwarding))
  const hasLeftForwarding = !forward && (await LeftLog.open(documents, live))
  const { adminKey, allowThingDelete = false } = options
  const access = await createAccess({
    ...stored,
    ...{ adminKey, allowThingDelete, topics: ready.topics ?? [], rules: sourceRules },
  })
  access.access.onRevoke(revocation => limits.rate.revoke(revocation))
  records.onCommit(commit => limits.rate.chargeElsewhere(commit, clock.now()))
  if (observer) {
    records.onCommit(commit => {
      if (commit.stored && !commit.isElsewhere) observer.stored(recordCount(commit))
    })
  }
  const { redactor } = access.access
  const serving = { ...stored, live, limits, storeTimeout, observer }
  const ingest = createIngest({ ...serving, magic, formats: writeFormats, isShared, redactor })
  const sourceMessages = new Sources({
    ...{ ...stored, access: access.access, ingest, things: access.sourceThings },
    formatsOf: ({ formats, pattern }) => formatsOf(formats, pattern),
  })
  const retained = new RetainedState({
    ...stored,
    magic,
    live,
    onRefused: ({ thingId, record, error }) => {
      void ingest.noteRefused({ thingId, door: 'magic', error, body: Buffer.from(recordText(record)) })
    },
    onDefect,
  })
  live.log.keepFor(retained)
  const rules = options.retention ?? []
  const retention = await Retention.open({ ...stored, rules, onDefect })
  return {
    ...access,
    ...serving,
    ...{ ingest, sourceMessages, sessionLog, streamLog, retention, forward, hasLeftForwarding },
    costlyReads: new FairQueue(costlyReadsAtOnce),
    magic: retained,
    believedTime: () => retention.believedTime(),
    storeSize: () => store.size(),
    backup: async function* () {
      await access.keepTimes()
      yield* store.backup()
    },
    isReady: () => store.isReady(),
    close: async () => {
      ingest.drain()
      sourceMessages.close()
      await Promise.all([access.close(), retention.close(), forward?.close()])
      await retained.close()
      streamLog.close()
      await live.close()
      await store.close()
    },
  }
}

function warnOfDefect(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}

/** Imports the forwarder only if it is needed, since it loads an MQTT client. */
async function openForwarder(...parts: Parameters<typeof Forwarder.open>): Promise<Forwarder> {
  const { Forwarder } = await import('./forward/forwarder.ts')
  return await Forwarder.open(...parts)
}
