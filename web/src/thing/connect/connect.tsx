import { useState } from 'preact/hooks'
import { prefixOf } from '../../api/address.ts'
import { thingHash } from '../../route.ts'
import type { SignedIn } from '../../session/signed-in.ts'
import { keepThingToken, keptThingToken } from '../../session/thing-tokens.ts'
import { ConnectSource, SourceChoice } from '../../sources/connect-source.tsx'
import type { SourceKind } from '../../sources/kinds.ts'
import { Arrivals } from './arrivals.tsx'
import '../../operator/operator.css'
import './connect.css'
import { DeviceHost } from './device-host.tsx'
import { placeholder } from './device-token.ts'
import { deviceHost, httpUrlAt } from './host.ts'
import { useServerFacts } from './server-facts.ts'
import { SnippetText } from './snippet-text.tsx'
import { snippets } from './snippets/index.ts'
import { TokenOfDevice } from './token-of-device.tsx'

interface ConnectProps {
  readonly signedIn: SignedIn
  readonly thingId: string
}

/** Example programs that write a reading as this thing, and sources for devices that need no program. */
export function Connect({ signedIn, thingId }: ConnectProps) {
  const { principal, credential, api } = signedIn
  const facts = useServerFacts(api)
  const [host, setHost] = useState(location.hostname)
  const [token, setToken] = useState(principal.kind === 'thing' ? credential : keptThingToken(thingId))
  const [picked, setPicked] = useState(snippets[0])
  const [kind, setKind] = useState<SourceKind>()
  const { mqttPort } = facts
  // Without MQTT, only the HTTP programs are offered. They have no `tls`.
  const choices = mqttPort === undefined ? snippets.filter(({ tls }) => tls === undefined) : snippets
  const chosen = choices.find(snippet => snippet === picked) ?? choices[0] ?? picked
  const device = deviceHost(host)
  const endpoint = {
    host: device,
    mqttPort: mqttPort ?? 1883,
    httpUrl: httpUrlAt(location, device) + prefixOf(),
    token: token ?? placeholder,
  }
  return (
    <section class="connect" aria-labelledby="connect-heading">
      <p>
        <a href={thingHash(thingId)}>Back to the thing</a>
      </p>
      <h1 id="connect-heading">Connect your device</h1>
      <p>
        Thing id <code>{thingId}</code>. {mqttPort !== undefined && `MQTT on port ${mqttPort}`}
        {facts.mqttsPort !== undefined && `, with TLS on port ${facts.mqttsPort}`}
        {mqttPort !== undefined && '; '}HTTP at <code>{endpoint.httpUrl}</code>.
      </p>
      <DeviceHost host={host} facts={facts} onHost={setHost} />
      <fieldset class="choices">
        <legend>Program</legend>
        {choices.map(snippet => (
          <button
            key={snippet.name}
            type="button"
            aria-pressed={!kind && snippet === chosen}
            onClick={() => {
              setPicked(snippet)
              setKind(undefined)
            }}
          >
            {snippet.name}
          </button>
        ))}
      </fieldset>
      {principal.kind === 'admin' && <SourceChoice facts={facts} chosen={kind} onChoose={setKind} />}
      {kind ? (
        <ConnectSource key={kind.name} {...{ api, kind, host, facts }} />
      ) : (
        <>
          <TokenOfDevice
            principal={principal}
            api={api}
            thingId={thingId}
            token={token}
            onToken={chosen => {
              setToken(chosen)
              keepThingToken(thingId, chosen)
            }}
          />
          <SnippetText snippet={chosen} text={chosen.text(endpoint)} mqttsPort={facts.mqttsPort} />
          <Arrivals signedIn={signedIn} thingId={thingId} />
        </>
      )}
    </section>
  )
}
