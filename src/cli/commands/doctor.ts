import type { Command } from 'commander'
import { printable } from '../../core/json/printable.ts'
import { ServerClient } from '../client/client.ts'
import { type ConnectionFlags, credentialFor, serverCommand, serverUrl } from '../client/connection.ts'
import type { Credential } from '../client/credential.ts'
import { type Finding, fault, note } from '../doctor/finding.ts'
import { checkForwarding } from '../doctor/forwarding.ts'
import { checkFutureRecords } from '../doctor/future-records.ts'
import { checkMqttConnect } from '../doctor/mqtt-connect.ts'
import { checkConnection, checkName, endpointOf } from '../doctor/network.ts'
import { checkRefusedCredentials } from '../doctor/refused-credentials.ts'
import { checkCredential, checkReady } from '../doctor/service.ts'
import { checkThing } from '../doctor/thing.ts'
import { CommandError, exitStatus, failure, usageError } from '../exit.ts'
import { counted, printJson, printLine } from '../output.ts'

interface Flags extends ConnectionFlags {
  readonly mqttUrl?: string
}

export function addDoctor(program: Command): void {
  serverCommand(program, 'doctor', 'Find out why a device gets no readings through.', {
    examples: [
      ['doctor boat', 'on the machine of the server, as the operator'],
      [
        'doctor --url http://192.168.1.10:8080 --credential-file boat.token',
        "from the device's network, with the device's own token",
      ],
    ],
    notes: [
      'doctor checks the name, ports, TLS certificate, readiness and clock of the server, and tests the credential over HTTP and MQTT. It shows when the thing was last seen and which of its writes were refused, with advice for each fault. It finds records that lie in the future (of all things, if no thing is named), and names the command that removes them. For a server that forwards, it shows the operator whether records get through. It writes nothing.',
      'A note is not a fault. Notes report a missing thing name, a session that may only read, a refused write before the newest stored record, topics that a thing was granted but the server does not relay, and (to the operator) credentials that the server refused since its start.',
    ],
    exit: '0 no fault; 1 faults, each with advice; 2 wrong command line',
  })
    .argument('[thing]', "id or unique name; left out with a thing's own token")
    .option('--mqtt-url <url>', 'MQTT address, such as mqtts://host:8883; default: as the server says')
    .action(doctor)
}

async function doctor(named: string | undefined, flags: Flags): Promise<void> {
  const givenMqttUrl = flags.mqttUrl === undefined ? undefined : parseMqttUrl(flags.mqttUrl)
  const findings: Finding[] = []
  const show = async (found: readonly Finding[]) => {
    findings.push(...found)
    if (!flags.json) for (const finding of found) await printFinding(finding)
  }
  await examine(named, flags, givenMqttUrl, show)
  const faults = findings.filter(({ isOk }) => !isOk)
  if (flags.json) await printJson({ isOk: faults.length === 0, findings })
  if (faults.length > 0) throw failure(`${counted(faults.length, 'fault')} found`)
}

type Show = (findings: readonly Finding[]) => Promise<void>

/** Runs the checks, from the network to the thing. Checks that depend on a failed check are left out. */
async function examine(
  named: string | undefined,
  flags: Flags,
  givenMqttUrl: URL | undefined,
  show: Show,
): Promise<void> {
  const url = serverUrl(flags)
  const base = url.origin + url.pathname.replace(/\/+$/, '')
  const http = endpointOf('HTTP', url, url.protocol === 'https:' ? 443 : 80)
  const name = await checkName(http.host)
  await show(name)
  if (name.some(({ isOk }) => !isOk)) return
  const { findings, socket } = await checkConnection(http)
  socket?.destroy()
  await show(findings)
  const isHttpThere = findings.every(({ isOk }) => isOk)
  const ready = isHttpThere ? await checkReady(base) : []
  await show(ready)
  // If something other than a Thingwire server answered, its answers to the other checks would mislead.
  if (ready.some(({ check }) => check === 'server')) return
  const credential = await credentialFor(flags, 'any').catch(async (error: unknown) => {
    if (!(error instanceof CommandError)) throw error
    await show([fault('credential', 'there is no credential to test', error.message)])
    return undefined
  })
  if (givenMqttUrl || isHttpThere) {
    await examineMqtt(givenMqttUrl ?? (await mqttUrl(url, base)), credential, show)
  } else {
    const advice = 'to test it all the same: thingwire doctor --mqtt-url mqtt://host:1883'
    await show([note('MQTT port', 'not tested: the server names the port over HTTP', advice)])
  }
  if (!isHttpThere || credential === undefined) return
  const client = new ServerClient(base, credential)
  const known = await checkCredential(client, credential)
  await show([known])
  if (!known.isOk) return
  await show(await answered('credentials', checkRefusedCredentials(client)))
  await show(await answered('forwarding', checkForwarding(client)))
  const ofThing = await thingFindings(client, named)
  await show(ofThing)
  // A thing that does not exist has no future records.
  if (ofThing.every(({ check, isOk }) => isOk || check !== 'thing'))
    await show(await answered('future records', checkFutureRecords(client, named)))
}

/** The findings of a check, or a fault if a request of the check fails. */
async function answered(
  check: string,
  looking: Promise<readonly Finding[]>,
  text = 'this cannot be checked',
): Promise<readonly Finding[]> {
  try {
    return await looking
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return [fault(check, text, error.message)]
  }
}

async function examineMqtt(
  url: URL | undefined,
  credential: Credential | undefined,
  show: Show,
): Promise<void> {
  if (!url) {
    const advice = 'if devices reach one: thingwire doctor --mqtt-url mqtt://host:1883'
    return await show([note('MQTT port', 'the server names none', advice)])
  }
  const { findings, socket } = await checkConnection(endpointOf('MQTT', url, defaultMqttPort(url)))
  await show(findings)
  if (socket && credential !== undefined) await show([await checkMqttConnect(socket, credential)])
  socket?.destroy()
}

async function thingFindings(client: ServerClient, named: string | undefined): Promise<readonly Finding[]> {
  const looking = checkThing(client, named).catch((error: unknown) => {
    const isNone = named === undefined && error instanceof CommandError && error.status === exitStatus.usage
    if (!isNone) throw error
    const advice = 'to check a thing: thingwire doctor <thing>'
    return [note('thing', 'no thing was named, and the credential is for more than one', advice)]
  })
  return await answered('thing', looking, 'the thing cannot be checked')
}

/** @throws CommandError usage */
function parseMqttUrl(text: string): URL {
  if (URL.canParse(text) && /^mqtts?:\/\//.test(text)) return new URL(text)
  throw usageError('--mqtt-url must be of the form mqtt://host:1883 or mqtts://host:8883')
}

/** The MQTT URL: the host of the HTTP URL, TLS if HTTP has TLS, and the port that the server names; undefined if it names none. */
async function mqttUrl(url: URL, base: string): Promise<URL | undefined> {
  const isSecure = url.protocol === 'https:'
  const said = await fetch(`${base}/dashboard.json`)
    .then(response => response.json() as Promise<{ mqttPort?: number; mqttsPort?: number }>)
    .catch(() => ({ mqttPort: Number(process.env.THINGWIRE_MQTT_PORT || 1883), mqttsPort: 8883 }))
  // If a proxy adds TLS, the server itself names no port for MQTT with TLS; the usual port is assumed.
  const port = isSecure ? (said.mqttsPort ?? (said.mqttPort && 8883)) : said.mqttPort
  if (!port) return undefined
  return new URL(`${isSecure ? 'mqtts' : 'mqtt'}://${url.hostname}:${port}`)
}

function defaultMqttPort({ protocol }: URL): number {
  return protocol === 'mqtts:' ? 8883 : 1883
}

async function printFinding({ check, isOk, isNote, text, advice }: Finding): Promise<void> {
  const mark = isNote ? 'note ' : isOk ? 'ok   ' : 'FAULT'
  await printLine(`${mark}  ${check.padEnd(16)} ${printable(text)}`)
  if (advice !== undefined) await printLine(`       ${''.padEnd(16)} → ${advice}`)
}
