import type { Thing } from '../helpers/http-client.ts'
import { type Answer, HttpConnection, reasonOf } from '../helpers/http-connection.ts'
import type { Device } from './device.ts'
import type { Ledger } from './ledger.ts'
import { type PlannedWrite, planWrite, type Sizes, type Way, type WriteKind } from './planned-write.ts'

export interface LoadSetup {
  readonly url: string
  readonly mqttUrl: string
  readonly things: readonly Thing[]
  readonly ledger: Ledger
  readonly run: string
  /** Over HTTP. */
  readonly connections: number
  /** Each with a connection of its own, over MQTT. */
  readonly devices: readonly Device[]
  /** Ends the load after so many writes of each way; without it the load goes on until the server is gone. */
  readonly writes?: number
  readonly sizes: Sizes
  /** Default: all. */
  readonly kinds?: readonly WriteKind[]
  readonly onAnswer?: (answer: Answer) => void
  /**
   * Told of the return code of each CONNACK, undefined if there was none. Without it, a device that is closed although
   * the server is alive notes a breach.
   */
  readonly onConnack?: (returnCode: number | undefined) => void
}

/**
 * Writes on all connections at once through both doors, and keeps the ledger. What devices did not bring to an end
 * before is part of it.
 */
export async function runLoad(setup: LoadSetup): Promise<void> {
  const planner = new Planner(setup)
  const posting = Array.from({ length: setup.connections }, (_, place) =>
    post(setup, () => planner.next('HTTP', place)),
  )
  const publishing = setup.devices.map((device, place) => {
    const { isPersistent, place: thing } = device.setup
    const next = () => {
      const way = isPersistent && Math.random() < 2 / 3 ? 'QoS 2' : 'QoS 1'
      return (
        planner.next(way, place, thing) ?? (isPersistent ? planner.next('QoS 2', place, thing) : undefined)
      )
    }
    return publish(setup, device, next)
  })
  await Promise.all([...posting, ...publishing])
}

class Planner {
  readonly #setup: LoadSetup
  readonly #begun: Record<Way, number> = { HTTP: 0, 'QoS 1': 0, 'QoS 2': 0 }

  constructor(setup: LoadSetup) {
    this.#setup = setup
  }

  /** @returns undefined if there were enough of this way */
  next(way: Way, place: number, itsThing?: number): PlannedWrite | undefined {
    const { run, sizes, kinds, things, writes = Infinity } = this.#setup
    if (this.#begun[way] >= writes) return undefined
    const number = this.#begun[way]++
    const thing = itsThing ?? number % things.length
    return planWrite({ run, way, place, number, thing, sizes, ...(kinds && { kinds }) })
  }
}

async function post(setup: LoadSetup, next: () => PlannedWrite | undefined): Promise<void> {
  const { url, things, ledger, onAnswer } = setup
  const connection = new HttpConnection(url)
  try {
    for (let write = next(); write; write = next()) {
      ledger.add(write)
      const answer = await postWrite(connection, things, ledger, write).catch(() => undefined)
      if (!answer) return
      onAnswer?.(answer)
    }
  } finally {
    connection.close()
  }
}

/** Connects if need be; comes back when it was closed, until that is refused, or nobody is there any more. */
async function publish(
  setup: LoadSetup,
  device: Device,
  next: () => PlannedWrite | undefined,
): Promise<void> {
  const { ledger } = setup
  let isClosed = false
  while (device.isConnected || (await connect(setup, device))) {
    if (isClosed && !setup.onConnack)
      ledger.breach(`${device.setup.clientId}: closed by a server that was well`)
    for (let write = next(); write; write = next()) {
      if (!(await device.publish(write))) break
    }
    await device.idle().catch(() => {})
    if (device.isConnected) return
    isClosed = true
  }
}

async function connect({ mqttUrl, onConnack }: LoadSetup, device: Device): Promise<boolean> {
  const returnCode = await device.connect(mqttUrl).catch(() => undefined)
  onConnack?.(returnCode)
  return returnCode === 0
}

/**
 * Posts a write that is in the ledger.
 *
 * @throws Error if it is not answered
 */
export async function postWrite(
  connection: HttpConnection,
  things: readonly Thing[],
  ledger: Ledger,
  write: PlannedWrite,
): Promise<Answer> {
  const answer = await connection.post(`/v2/things/${things[write.thing]?.thingToken}`, write.body)
  if (answer.status === 201) ledger.settle(write, 'acked')
  else if (reasonOf(answer) !== 'store_timeout') ledger.settle(write, 'refused')
  return answer
}
