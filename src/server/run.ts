import type { Logger } from 'pino'
import { signInLink } from '../core/token.ts'
import { createLogger } from './log/log.ts'
import type { ServerOptions } from './options/options.ts'
import { linesForDevices, onThisMachine, urlForBrowsers } from './reachable.ts'
import { createServer, type Server } from './server.ts'

/**
 * Runs the server as this process and prints its URLs to stdout. SIGTERM and SIGINT stop it with exit status 0. A second signal,
 * or the end of `shutdownTimeout`, ends the process immediately with status 1.
 *
 * @throws Error with one line for the operator if the server cannot start
 */
export async function runServer(options: ServerOptions): Promise<void> {
  const log = createLogger(options.logLevel, { adminKey: options.adminKey })
  process.once('exit', () => log.reportHeldBack())
  process.on('uncaughtException', error => {
    log.fatal({ err: error }, 'uncaught exception')
    process.exit(1)
  })
  const starting = createServer(options, {
    log,
    // Exits immediately: clients send unacknowledged writes again.
    onStoreLost: () => process.exit(1),
  })
  stopOnSignal(starting, options.shutdownTimeout, log)
  const server = await starting
  printAdminKey(server.adminKey)
  printPlaces(server)
  if (process.stdout.isTTY) await printSignInLink(server)
}

/** Call this only if stdout is a terminal: any other stdout may be a log that others can read (contract §10.2). */
async function printSignInLink({ url, adminKey }: Server): Promise<void> {
  const response = await fetch(`${onThisMachine(url)}/v2/admin/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey.key}` },
    body: JSON.stringify({ things: '*', access: 'write' }),
  }).catch(() => undefined)
  if (!response?.ok) return
  const { sessionToken } = (await response.json()) as { sessionToken: string }
  console.log(`Open this link to see your readings: ${signInLink(urlForBrowsers(url), sessionToken)}`)
}

function printPlaces(server: Server): void {
  const { url, mqttUrl, webSocketUrl, lenientUrl, httpsUrl, mqttsUrl, secureWebSocketUrl } = server
  if (lenientUrl !== undefined) console.log(`HTTP for devices without CRLF at ${onThisMachine(lenientUrl)}`)
  const secure = [httpsUrl, mqttsUrl, secureWebSocketUrl].filter(each => each !== undefined)
  if (secure.length > 0) console.log(`With TLS: ${secure.map(onThisMachine).join(', ')}`)
  console.log(`MQTT at ${onThisMachine(mqttUrl)}, over WebSocket at ${onThisMachine(webSocketUrl)}`)
  console.log(`Thingwire is ready at ${onThisMachine(url)}`)
  for (const line of linesForDevices(server)) console.log(line)
}

function stopOnSignal(starting: Promise<Server>, shutdownTimeout: number, log: Logger): void {
  let stopping = false
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) {
      log.warn({ signal }, 'second signal: ending at once')
      process.exit(1)
    }
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.error(`the server did not stop within shutdownTimeout (${shutdownTimeout} ms): ending at once`)
      process.exit(1)
    }, shutdownTimeout).unref()
    await (await starting).close()
    log.info('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

function printAdminKey({ key, created, file }: Server['adminKey']): void {
  if (!created) return
  console.log(`A new admin key is in ${file}`)
  if (process.stdout.isTTY) console.log(`Admin key: ${key}`)
}
