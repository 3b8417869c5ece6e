import { useState } from 'preact/hooks'
import { prefixOf } from '../../api/address.ts'
import { thingHash } from '../../route.ts'
import type { SignedIn } from '../../session/signed-in.ts'
import { keepThingToken, keptThingToken } from '../../session/thing-tokens.ts'
import { Arrivals } from './arrivals.tsx'
import './connect.css'
import { placeholder } from './device-token.ts'
import { deviceHost, httpUrlAt, reachProblem } from './host.ts'
import { ReachNotice } from './reach-notice.tsx'
import { useServerFacts } from './server-facts.ts'
import { SnippetText } from './snippet-text.tsx'
import { snippets } from './snippets/index.ts'
import { TokenOfDevice } from './token-of-device.tsx'

interface ConnectProps {
  readonly signedIn: SignedIn
  readonly thingId: string
}

/** Example programs that write a reading as this thing, ready to be pasted into a device. */
export function Connect({ signedIn, thingId }: ConnectProps) {
  const { principal, credential, api } = signedIn
  const facts = useServerFacts(api)
  const [host, setHost] = useState(location.hostname)
  const [token, setToken] = useState(principal.kind === 'thing' ? credential : keptThingToken(thingId))
  const [picked, setPicked] = useState(snippets[0])
  const { mqttPort } = facts
  // Without MQTT, only the HTTP programs are offered. They have no `tls`.
  const choices = mqttPort === undefined ? snippets.filter(({ tls }) => tls === undefined) : snippets
  const chosen = choices.find(snippet => snippet === picked) ?? choices[0] ?? picked
  const device = deviceHost(host)
  const problem = reachProblem(device, location.hostname, facts.loopback)
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
      <p class="host">
        <label for="device-host">Server address for the device</label>{' '}
        <input
          id="device-host"
          value={host}
          autocomplete="off"
          spellcheck={false}
          onInput={event => setHost(event.currentTarget.value)}
        />
      </p>
      <ReachNotice problem={problem} />
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
      <fieldset class="choices">
        <legend>Program</legend>
        {choices.map(snippet => (
          <button
            key={snippet.name}
            type="button"
            aria-pressed={snippet === chosen}
            onClick={() => setPicked(snippet)}
          >
            {snippet.name}
          </button>
        ))}
      </fieldset>
      <SnippetText snippet={chosen} text={chosen.text(endpoint)} mqttsPort={facts.mqttsPort} />
      <Arrivals signedIn={signedIn} thingId={thingId} />
    </section>
  )
}
