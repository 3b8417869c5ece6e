import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../helpers/http-client.ts'
import { post } from '../../helpers/http-connection.ts'
import { versionOf } from '../../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { Device } from '../device.ts'
import type { Ledger } from '../ledger.ts'
import { type MagicWrite, MagicWriter, type WriterSetup } from './write.ts'

interface Client {
  readonly writer: MagicWriter
  /** Absent: over HTTP, one write after another. */
  readonly device: Device | undefined
  /** Over HTTP: sent and not answered. */
  unanswered: MagicWrite | undefined
}

/** Over MQTT half of them are of version 5, by their place in the list. */
type Member = Pick<WriterSetup, 'thingPlace' | 'clock' | 'habit'> & {
  readonly over: 'HTTP' | 'clean session' | 'session'
}

/** Before something is tried again, milliseconds. */
const pause = 50
/** Changes of `$count` of a thing that nobody has seen: of more than 1,000 a session that is away loses some (contract §7). */
const mostUnseen = 500

/** Two things have a writer without a clock, over another door each; one has large settings, one is deleted from. */
const members: readonly Member[] = [
  { thingPlace: 0, clock: 'clocked', over: 'HTTP' },
  { thingPlace: 0, clock: 'clocked', over: 'HTTP' },
  { thingPlace: 0, clock: 'clocked', over: 'clean session' },
  { thingPlace: 0, clock: 'clocked', over: 'session' },
  { thingPlace: 1, clock: 'unclocked', over: 'HTTP' },
  { thingPlace: 1, clock: 'late', over: 'clean session' },
  { thingPlace: 1, clock: 'late', over: 'session' },
  { thingPlace: 2, clock: 'late', over: 'HTTP' },
  { thingPlace: 2, clock: 'late', over: 'clean session' },
  { thingPlace: 2, clock: 'unclocked', over: 'session' },
  { thingPlace: 3, clock: 'clocked', over: 'session', habit: 'parts' },
  { thingPlace: 4, clock: 'clocked', over: 'HTTP', habit: 'removals' },
]

/** Writers of magic records through both doors, over many lives of the server. */
export class MagicLoad {
  static readonly things = 5
  readonly #things: readonly Thing[]
  readonly #ledger: Ledger
  readonly #clients: readonly Client[]
  readonly #seen: (thing: number) => number
  /** In the order of each writer. */
  #sent: MagicWrite[] = []
  /** Of `$count`, by thing, since the first write. */
  readonly #changes: number[]
  #isHalted = false

  /** @param seen how many changes of `$count` of a thing were seen, for which its writers wait */
  constructor(things: readonly Thing[], ledger: Ledger, seen: (thing: number) => number) {
    this.#things = things
    this.#ledger = ledger
    this.#seen = seen
    this.#changes = things.map(() => 0)
    this.#clients = members.map(({ over, ...setup }, number) => {
      const { thingPlace: place } = setup
      const thing = things[place]
      if (!thing) throw new Error(`there is no thing ${place}`)
      const writer = new MagicWriter({ ...setup, thing, place: number })
      const isPersistent = over === 'session'
      const device =
        over === 'HTTP'
          ? undefined
          : new Device({ version: versionOf(number), number, thing, place, isPersistent, ledger })
      return { writer, device, unanswered: undefined }
    })
  }

  /** The next writes belong to this run. @param hasParts whether some are to take several commits */
  begin(run: string, hasParts: boolean): void {
    this.#isHalted = false
    for (const { writer } of this.#clients) writer.begin(run, hasParts)
  }

  /** Devices come back, and send again what was not acked. */
  async connect(mqttUrl: string): Promise<void> {
    await Promise.all(this.#clients.map(({ device }) => device?.resume(mqttUrl)))
  }

  /** Whoever waits for changes to be seen writes no more. */
  halt(): void {
    this.#isHalted = true
  }

  /** Writes until the server is gone. */
  async run(server: ServerProcess): Promise<void> {
    await Promise.all(
      this.#clients.map(client =>
        client.device ? this.#publish(server, client.writer, client.device) : this.#post(server, client),
      ),
    )
  }

  /**
   * Brings everything to an end, with one write more for each thing: when that is applied, so is all before it.
   *
   * @returns what is wrong, in words
   */
  async settle(server: ServerProcess): Promise<string[]> {
    await Promise.all(
      this.#clients.map(async client => {
        const { unanswered } = client
        if (!unanswered) return
        this.#ledger.resend(unanswered)
        await this.#request(server, unanswered)
        client.unanswered = undefined
      }),
    )
    for (const place of this.#things.keys()) {
      const write = this.#clients.find(({ writer }) => writer.setup.thingPlace === place)?.writer.last()
      if (!write) continue
      this.#add(write)
      await this.#request(server, write)
    }
    return this.#ledger.withOutcome(['uncertain']).map(({ name }) => `${name}: not acked in the end`)
  }

  /** Every write that was sent since the last call, in the order of each writer. */
  takeSent(): readonly MagicWrite[] {
    return this.#sent.splice(0)
  }

  async end(): Promise<void> {
    await Promise.all(this.#clients.map(({ device }) => device?.destroy()))
  }

  async #post(server: ServerProcess, client: Client): Promise<void> {
    try {
      while (await this.#hasRoom(client.writer)) {
        const write = client.writer.next('HTTP')
        this.#add(write)
        client.unanswered = write
        await this.#request(server, write)
        client.unanswered = undefined
      }
    } catch {
      // The server is gone.
    }
  }

  async #publish({ mqttUrl }: ServerProcess, writer: MagicWriter, device: Device): Promise<void> {
    while (await this.#hasRoom(writer)) {
      const write = writer.next(device.way)
      if (await device.publish(write)) this.#take(write)
      else if (!(await comeBack(device, mqttUrl))) return
    }
  }

  #add(write: MagicWrite): void {
    this.#ledger.add(write)
    this.#take(write)
  }

  #take(write: MagicWrite): void {
    this.#sent.push(write)
    const changes = write.kept.filter(({ key }) => key === '$count').length
    this.#changes[write.thing] = (this.#changes[write.thing] ?? 0) + changes
  }

  /** @returns false: halted */
  async #hasRoom({ setup }: MagicWriter): Promise<boolean> {
    const { thingPlace } = setup
    const unseen = () => (this.#changes[thingPlace] ?? 0) - this.#seen(thingPlace)
    while (!this.#isHalted && unseen() > mostUnseen) await delay(pause)
    return !this.#isHalted
  }

  /** Sends it until the store takes it. @throws Error if it is not answered */
  async #request(server: ServerProcess, write: MagicWrite): Promise<void> {
    for (;;) {
      const status = await this.#send(server, write)
      // A removal that was not answered may have left nothing to find.
      const isDone = status === 201 || (write.removes !== undefined && (status === 200 || status === 404))
      if (isDone) this.#ledger.settle(write, 'acked')
      if (status !== 503) return
      await delay(pause)
      this.#ledger.resend(write)
    }
  }

  async #send({ url, adminKey }: ServerProcess, { thing, body, removes }: MagicWrite): Promise<number> {
    const { thingId, thingToken } = this.#things[thing] ?? {}
    if (removes === undefined) return (await post(`${url}/v2/things/${thingToken}`, body)).status
    const response = await fetch(`${url}/v2/things/${thingId}/resources/${encodeURIComponent(removes)}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${adminKey}` },
    })
    await response.arrayBuffer()
    return response.status
  }
}

/** @returns whether it was let in, before the server was gone */
async function comeBack(device: Device, mqttUrl: string): Promise<boolean> {
  try {
    while ((await device.connect(mqttUrl)) !== 0) await delay(pause)
    return true
  } catch {
    return false
  }
}
