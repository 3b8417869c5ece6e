import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { onTestFinished } from 'vitest'
import { freePort } from '../helpers/redis-server.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { Program } from './program.ts'

interface BridgeSetup {
  readonly token: string
  /** Of Thingwire, on 127.0.0.1. */
  readonly remotePort: number
  /** Changes the configuration of the page. */
  readonly change?: (configuration: string) => string
}

/** A mosquitto as docs/use/mosquitto-bridge.md sets it up, on a free port. */
export class Bridge {
  static async open({ token, remotePort, change = text => text }: BridgeSetup): Promise<Bridge> {
    const directory = await temporaryDirectory()
    const port = await freePort()
    const shown = (await shownConfiguration()).replaceAll('$TOKEN', token)
    const placed = replaced(
      replaced(shown, 'listener 1884', `listener ${port}`),
      'address 127.0.0.1:1883',
      `address 127.0.0.1:${remotePort}`,
    )
    // As root it would become another user, who cannot write into the directory.
    const own = process.getuid?.() === 0 ? 'user root\n' : ''
    await writeFile(join(directory, 'bridge.conf'), `${own}${change(placed)}`)
    return new Bridge(directory, port)
  }

  readonly #directory: string
  readonly #port: number
  #program: Program | undefined

  private constructor(directory: string, port: number) {
    this.#directory = directory
    this.#port = port
  }

  /** Resolves when devices can connect. */
  async start(): Promise<void> {
    const command = `cd '${this.#directory}' && exec mosquitto -c bridge.conf`
    this.#program = new Program({ command: 'sh', debianPackage: 'mosquitto' }, ['-c', command])
    await this.#program.said(/mosquitto version \S+ running/)
  }

  /** SIGTERM; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#program?.process.kill('SIGTERM')
    await this.#program?.exited
  }

  /** Resolves when its log holds a match. */
  async said(pattern: RegExp): Promise<void> {
    await this.#program?.said(pattern)
  }

  /** A device of the local network. */
  async connectDevice(options: IClientOptions = {}): Promise<MqttClient> {
    const device = await connectAsync(`mqtt://127.0.0.1:${this.#port}`, options)
    onTestFinished(async () => await device.endAsync(true))
    return device
  }
}

async function shownConfiguration(): Promise<string> {
  const page = await readFile('docs/use/mosquitto-bridge.md', 'utf8')
  const [, text] = /^cat > bridge\.conf <<EOF\n(.*?)^EOF$/ms.exec(page) ?? []
  if (text === undefined) throw new Error('docs/use/mosquitto-bridge.md shows no bridge.conf')
  return text
}

/** @throws Error if the text has no such part */
export function replaced(text: string, part: string, by: string): string {
  if (!text.includes(part)) throw new Error(`the configuration of the page has no "${part}"`)
  return text.replace(part, by)
}
